// A process that holds a session until it is killed: its model never answers.
// Usage: node session-holder.js <store> <place as JSON> <session>
import type { Model } from "@holdfast/core";
import type { NodePlace } from "../stores/node-place.js";
import { openNode } from "../stores/open-node.js";
import type { StoreName } from "../stores/store-side.js";

const silentModel: Model = {
  id: "silent",
  async *stream() {
    console.log("holding");
    await new Promise((resolve) => setTimeout(resolve, 2 ** 31 - 1));
  },
};

const [store, place, sessionId] = process.argv.slice(2) as [StoreName, string, string];
const node = await openNode(store, JSON.parse(place) as NodePlace, { model: silentModel });
await node.turn(sessionId);
