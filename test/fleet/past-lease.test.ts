import { spawnScript } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { door } from "../engine/door.js";
import { fleetStores } from "./choices.js";
import { newPlace, sharedStores } from "./every-store.js";
import { keeper } from "./keeper.mjs";
import { transcript } from "./transcript.js";

/** Where a node stands still, and what it would do next if it did not look at its lease. */
const points = [
  { stopAt: "answers use pay: a", next: "tool", says: "use pay: a" },
  { stopAt: "did pay", next: "model call", says: "use pay: a" },
  { stopAt: "answers a", next: "save", says: "a" },
];

/** Leases, and how long a node has to stand still until another takes its session over. */
const leases = [
  ...sharedStores.map((kind) => ({ kind, leaseMs: 4_000, limit: "its lease" })),
  ...fleetStores.map((kind) => ({ kind, leaseMs: 900_000, limit: "its node's timeout" })),
];

describe.concurrent.each(leases)("on $kind", ({ kind, leaseMs, limit }) => {
  test(`a node that stood still past ${limit} starts no tool, model call or save, and does its successor no harm`, async () => {
    await using place = await newPlace(kind, leaseMs);
    const node = [JSON.stringify(place.choice), JSON.stringify({ persistence: "call" })];
    await using stopped = spawnScript(new URL("keeper-node.mjs", import.meta.url), node);
    const store = place.open();
    let [asked, answer] = [door(), door()];
    const successor = keeper(store, {
      tell: async (what) => {
        if (what !== "asked b") return;
        asked.open();
        await answer.opened;
      },
    });
    await successor.call("hello", { userId: "u", sessionId: "ready-too" });
    await stopped.line("ready");
    for (const { stopAt, next, says } of points) {
      const session = { userId: "u", sessionId: next.replace(" ", "-") };
      const { sessionId } = session;
      [asked, answer] = [door(), door()];
      stopped.send(JSON.stringify({ input: says, ctx: { ...session, callId: "a" }, stopAt }));
      await stopped.line(`${sessionId} ${stopAt}`);
      const before = stopped.lines.length;
      const running = successor.call("b", session);
      await asked.opened;
      // The successor is in the middle of its call when the other wakes up.
      process.kill(stopped.pid, "SIGCONT");
      const end = (line: string) => /^(reply|failed)/.test(line.slice(sessionId.length + 1));
      await stopped.line((line) => line.startsWith(`${sessionId} `) && end(line));
      expect(stopped.lines.slice(before)).toEqual([`${sessionId} failed LEASE_LOST CONFLICT`]);
      answer.open();
      expect(await running.catch((error) => error)).toMatchObject({ text: "re: b" });
      const { context } = await transcript(store, { agentId: "keeper", ...session });
      expect(context.filter((text) => text === says)).toEqual([says]);
      expect(context.slice(-2)).toEqual(["b", "re: b"]);
      expect(context).not.toContain(`re: ${says}`);
      // Nothing was lost with it: its request is answered when it is made again.
      const again = await successor.call(says, { ...session, callId: "a" }).catch((error) => error);
      expect(again).toMatchObject({ text: `re: ${says}` });
    }
  });
});
