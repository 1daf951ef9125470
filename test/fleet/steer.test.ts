import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { type DistributedStore, InMemoryAgentStateStore, type ReActAgent } from "@holdfast/core";
import { eventually, scaled, spawnScript } from "@holdfast/testing";
import { describe, expect, inject, test } from "vitest";
import { open } from "../document-store/redis-client.mjs";
import { expectPaired } from "../engine/conversation.js";
import { type Door, door } from "../engine/door.js";
import { newPlace, type StorePlace, sharedStores } from "./every-store.js";
import { keeper } from "./keeper.mjs";
import { transcript } from "./transcript.js";

const rounds = scaled(8, 200);
const session = { userId: "u", sessionId: "s" };
const kinds = ["memory", "documents", ...sharedStores] as const;

/** Two nodes that share nothing but what they store. */
async function twoNodes(
  kind: (typeof kinds)[number],
): Promise<AsyncDisposable & { readonly stores: readonly [DistributedStore, DistributedStore] }> {
  if (kind === "memory") {
    const stateStore = new InMemoryAgentStateStore();
    const store = { ...stateStore.companions(), stateStore };
    return { stores: [store, store], [Symbol.asyncDispose]: async () => undefined };
  }
  if (kind === "documents") {
    const location = `${inject("redisUrl")}#${randomUUID()}:`;
    const made = [open(location), open(location)] as const;
    const [one, two] = made.map((stateStore) => ({ ...stateStore.companions?.(), stateStore }));
    return {
      stores: [one as DistributedStore, two as DistributedStore],
      [Symbol.asyncDispose]: async () => void (await Promise.all(made.map((each) => each.close()))),
    };
  }
  const place = await newPlace(kind, 30_000);
  return {
    stores: [place.open(), place.open()],
    [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
  };
}

/** Opens when a call on this node has got a signal. */
function tellSignals({ signals }: DistributedStore): Door<void> {
  const heard = door();
  const listen = signals.listen.bind(signals);
  signals.listen = (slot, callId, handler, options) => {
    const handle: typeof handler = (signal) => {
      handler(signal);
      heard.open();
    };
    return listen(slot, callId, handle, options);
  };
  return heard;
}

/** Every word is in the session once, in order, and in its log once. */
async function expectOnce(
  store: DistributedStore,
  sessionId: string,
  told: readonly string[],
): Promise<void> {
  const { context, log } = await transcript(store, { agentId: "keeper", userId: "u", sessionId });
  const isTold = (text: string) => text.startsWith("word");
  expect(context.filter(isTold), sessionId).toEqual(told);
  expect(log.filter(isTold).toSorted(), sessionId).toEqual([...told].toSorted());
}

describe.concurrent.each(kinds)("on %s: steering from another node", (kind) => {
  test.sequential("adds the words to the running call at its next step", async () => {
    await using nodes = await twoNodes(kind);
    const [reached, released] = [door(), door()];
    const tell = async (what: string) => {
      if (what !== "tool pay") return;
      reached.open();
      await released.opened;
    };
    const heard = tellSignals(nodes.stores[0]);
    const caller = keeper(nodes.stores[0], { tell });
    const other = keeper(nodes.stores[1]);
    const call = caller.call("use pay: question", session);
    await reached.opened;
    const steered = other.steer("u", "s", "word");
    await heard.opened;
    released.open();
    expect(await call).toMatchObject({ reason: "stop", text: "re: word" });
    expect(await steered).toBe("steered");
    await expectOnce(nodes.stores[0], "s", ["word"]);
    const state = await other.getAgentState("u", "s");
    expectPaired(state?.context ?? []);
  });

  test.sequential(`loses and doubles none of ${rounds} words, whenever they come`, async () => {
    await using nodes = await twoNodes(kind);
    const caller = keeper(nodes.stores[0], { delayMs: 5, persistence: "step" });
    const other = keeper(nodes.stores[1]);
    await caller.call("hello", session);
    const accepted: string[] = [];
    for (let n = 0; n < rounds; n++) {
      const asked = caller.call(`use pay: question ${n}`, session);
      await delay(Math.random() * 30);
      if ((await other.steer("u", "s", `word ${n}`)) !== false) accepted.push(`word ${n}`);
      expect((await asked).reason).toBe("stop");
    }
    await caller.call("the last one", session);
    await expectOnce(nodes.stores[1], "s", accepted);
    // Some have to have found a call, or this test shows nothing.
    expect(accepted.length).toBeGreaterThan(0);
  });
});

const perRound = scaled(6, 24);

/** A node whose calls are steered from here, until it dies. */
async function startNode(place: StorePlace, options: object) {
  const args = [JSON.stringify(place.choice), JSON.stringify(options)];
  const node = spawnScript(new URL("keeper-node.mjs", import.meta.url), args);
  await node.line("ready");
  return node;
}

const ways = ["resume", "go on", "roll back"] as const;

/** Takes up the session of a node that died. */
async function takeUp(
  agent: ReActAgent,
  sessionId: string,
  way: (typeof ways)[number],
): Promise<void> {
  if (way === "resume") await agent.resume("u", sessionId);
  const onBusy = way === "roll back" ? "rollback" : "enqueue";
  await agent.call("next", { userId: "u", sessionId, onBusy });
}

describe.concurrent.each(sharedStores)("on %s: a node that dies by kill -9", (kind) => {
  const everyPersistence = ["call", "step"] as const;
  // When to save is the engine's decision: one store shows both ways, the others the one with more saves.
  test.sequential.each(kind === "files" ? everyPersistence : scaled(["step"], everyPersistence))(
    "at any instant, saved per %s, has every word in its sessions once",
    async (persistence) => {
      await using place = await newPlace(kind, 5_000);
      const store = place.open();
      const agent = keeper(store);
      await agent.call("hello", { userId: "u", sessionId: "ready-too" });
      await using node = await startNode(place, { persistence, delayMs: 150 });
      const ids = Array.from({ length: perRound }, (_, n) => `s-${n}`);
      for (const sessionId of ids)
        node.send(
          JSON.stringify({ input: "use pay, look: question", ctx: { userId: "u", sessionId } }),
        );
      const isAsked = (id: string) => node.lines.includes(`${id} asked use pay, look: question`);
      await eventually(() => ids.every(isAsked), { intervalMs: 1 });
      const accepted = new Map<string, string[]>();
      const steering = ids.map(async (sessionId) => {
        const told: string[] = [];
        accepted.set(sessionId, told);
        for (let n = 0; n < 3; n++) {
          await delay(Math.random() * 150);
          if ((await agent.steer("u", sessionId, `word ${n}`)) !== false) told.push(`word ${n}`);
        }
      });
      await eventually(() => [...accepted.values()].flat().length > 0, { intervalMs: 1 });
      await delay(Math.random() * 400);
      await node.kill9();
      await Promise.all(steering);
      await Promise.all(
        ids.map((sessionId, n) => takeUp(agent, sessionId, ways[n % 3] ?? "resume")),
      );
      for (const sessionId of ids) {
        const told = accepted.get(sessionId) ?? [];
        await expectOnce(store, sessionId, told);
        const { context } = await transcript(store, { agentId: "keeper", userId: "u", sessionId });
        const [first = "next"] = told;
        expect(context.indexOf("use pay, look: question")).toBeLessThan(context.indexOf(first));
      }
    },
  );

  const everyDeath = ["final save", "inbox remove"];
  // Where a save empties the inbox, there is no command that removes from it, and no node dies.
  test.sequential.each(kind === "files" ? everyDeath : scaled(["final save"], everyDeath))(
    "at the %s has the words that it had taken in once",
    async (dieAt) => {
      await using place = await newPlace(kind, 5_000);
      const store = place.open();
      const agent = keeper(store);
      await agent.call("hello", { userId: "u", sessionId: "ready-too" });
      await using node = await startNode(place, { dieAt, delayMs: 2_000 });
      const ctx = { userId: "u", sessionId: "s" };
      node.send(JSON.stringify({ input: "use pay: question", ctx }));
      await node.line("s tool pay");
      // "queued" on a machine so busy that the call is over by then; the word is kept all the same.
      expect(await agent.steer(ctx, "word 0")).not.toBe(false);
      // Where a save empties the inbox, there is no such command to die at.
      if (dieAt === "inbox remove" && kind !== "files")
        await eventually(() => node.lines.some((line) => line.startsWith("s reply")));
      else await node.exited;
      await takeUp(agent, "s", "resume");
      await expectOnce(store, "s", ["word 0"]);
    },
  );
});
