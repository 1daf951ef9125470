// A new process that takes one turn on a session. Usage: node cold-process.js <store> <place as JSON> <session>
import type { NodePlace } from "../stores/node-place.js";
import { openNode } from "../stores/open-node.js";
import type { StoreName } from "../stores/store-side.js";

const [store, place, sessionId] = process.argv.slice(2) as [StoreName, string, string];
const node = await openNode(store, JSON.parse(place) as NodePlace);
await node.turn(sessionId);
console.log("answered");
await node.close();
