import { setTimeout as delay } from "node:timers/promises";
import { eventually, spawnScript } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { fleetStores } from "./choices.js";
import { newPlace, sharedStores } from "./every-store.js";
import { keeper } from "./keeper.mjs";
import { transcript } from "./transcript.js";

/** Leases that outlast the test by far: whatever is taken over was taken from a node, not from a lease that ran out. */
const leaseMs = 3_600_000;
/** Longer than a node may be silent on Redis and MySQL by default. */
const silentMs = 6_000;
const script = new URL("keeper-node.mjs", import.meta.url);
const session = { userId: "u", sessionId: "s" };
const slot = { agentId: "keeper", ...session };

describe.concurrent.each(sharedStores)("on %s", (kind) => {
  test("a session whose node was killed answers the call that waits, and one that comes later", async () => {
    await using place = await newPlace(kind, leaseMs);
    const store = place.open();
    const agent = keeper(store);
    await agent.call("hello", { userId: "u", sessionId: "ready-too" });
    for (const isWaiting of [true, false]) {
      await using dying = spawnScript(script, [JSON.stringify(place.choice), "{}"]);
      await dying.line("ready");
      dying.send(JSON.stringify({ input: "use hang: a", ctx: session }));
      await dying.line("s tool hang");
      const waiting = isWaiting ? agent.call("b", session) : undefined;
      if (isWaiting) await eventually(async () => (await store.gate.calls(slot)).length === 2);
      await dying.kill9();
      const reply = await (waiting ?? agent.call("b", session));
      expect(reply.text).toBe("re: b");
    }
  });

  test("those who wait behind a call whose node was killed while it waited get their turn", async () => {
    await using place = await newPlace(kind, leaseMs);
    const store = place.open();
    const held = await store.gate.acquire(slot, { callId: "held" });
    await using dying = spawnScript(script, [JSON.stringify(place.choice), "{}"]);
    await dying.line("ready");
    dying.send(JSON.stringify({ input: "a", ctx: session }));
    await eventually(async () => (await store.gate.calls(slot)).length === 2);
    const next = place.open().gate.acquire(slot, { callId: "next" });
    await eventually(async () => (await store.gate.calls(slot)).length === 3);
    await dying.kill9();
    await held.release();
    await (await next).release();
  });
});

describe.concurrent.each(fleetStores)("on %s", (kind) => {
  /** A call whose node stands still before its tool, until it is told to go on or for `blockMs`. */
  async function standsStill(blockMs?: number) {
    const place = await newPlace(kind, leaseMs);
    const node = spawnScript(script, [JSON.stringify(place.choice), "{}"]);
    await node.line("ready");
    const stopAt = "answers use pay: a";
    node.send(JSON.stringify({ input: "use pay: a", ctx: session, stopAt, blockMs }));
    await node.line(`s ${stopAt}`);
    return {
      ...{ place, node },
      outcome: () => node.line((line) => /^s (reply|failed)/.test(line)),
      async [Symbol.asyncDispose]() {
        await node[Symbol.asyncDispose]();
        await place[Symbol.asyncDispose]();
      },
    };
  }

  test("a node that stood still while nobody waited goes on", async () => {
    await using still = await standsStill();
    await delay(silentMs);
    process.kill(still.node.pid, "SIGCONT");
    expect(await still.outcome()).toBe("s reply re: use pay: a");
    expect(still.node.lines).toContain("s did pay");
  });

  test("a node whose event loop was busy gives way to a call that waits, and goes on when there is none", async () => {
    await using alone = await standsStill(silentMs);
    expect(await alone.outcome()).toBe("s reply re: use pay: a");
    await using wanted = await standsStill(3 * silentMs);
    const store = wanted.place.open();
    const reply = await keeper(store).call("b", session);
    expect(reply.text).toBe("re: b");
    expect(await wanted.outcome()).toBe("s failed LEASE_LOST CONFLICT");
    expect(wanted.node.lines).not.toContain("s tool pay");
    const { context } = await transcript(store, slot);
    expect(context).toEqual(["use pay: a", "b", "re: b"]);
  });
});
