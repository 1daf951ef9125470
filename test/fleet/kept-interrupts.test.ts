import { type DistributedStore, InMemoryAgentStateStore, type ReActAgent } from "@holdfast/core";
import { eventually } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { door } from "../engine/door.js";
import { newPlace, sharedStores } from "./every-store.js";
import { keeper } from "./keeper.mjs";
import { transcript } from "./transcript.js";

const rounds = process.env["HOLDFAST_LONG"] === "1" ? 1_000 : 40;
const session = { userId: "u", sessionId: "s" };
const slot = { agentId: "keeper", ...session };

interface TwoNodes extends AsyncDisposable {
  readonly stores: readonly [DistributedStore, DistributedStore];
}

/** Two nodes that share nothing but what they store. */
async function twoNodes(kind: (typeof kinds)[number]): Promise<TwoNodes> {
  if (kind === "memory") {
    const stateStore = new InMemoryAgentStateStore();
    const store = { ...stateStore.companions(), stateStore };
    return { stores: [store, store], [Symbol.asyncDispose]: async () => undefined };
  }
  const place = await newPlace(kind, 30_000);
  return {
    stores: [place.open(), place.open()],
    [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
  };
}

const kinds = ["memory", ...sharedStores] as const;

describe.concurrent.each(kinds)("on %s: an interrupt from another node", (kind) => {
  test.sequential(`loses none of ${rounds} messages, whenever they come`, async () => {
    await using nodes = await twoNodes(kind);
    const caller = keeper(nodes.stores[0], { delayMs: 5 });
    const other = keeper(nodes.stores[1]);
    await caller.call("hello", session);
    const accepted: string[] = [];
    const answers = new Map<unknown, number>();
    for (let n = 0; n < rounds; n++) {
      const asked = caller.call(`question ${n}`, session);
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
      const answer = await other.interrupt("u", "s", `message ${n}`);
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
      if (answer !== false) accepted.push(`message ${n}`);
      const reply = await asked;
      if (answer !== "stopped") expect(reply.text).toBe(`re: question ${n}`);
    }
    await caller.call("the last one", session);
    const { context, log } = await transcript(nodes.stores[0], slot);
    const isMessage = (text: string) => text.startsWith("message");
    expect(context.filter(isMessage)).toEqual(accepted);
    expect(log.filter(isMessage).sort()).toEqual([...accepted].sort());
    // Some have to have found a call, or this test shows nothing.
    expect(accepted.length).toBeGreaterThan(0);
    expect([...answers.keys()].filter((answer) => answer === "closed_asks")).toEqual([]);
  });

  /** A call that stands at its model, and one that waits behind it. */
  async function runningAndWaiting([first, second]: TwoNodes["stores"]) {
    const [asked, release] = [door(), door()];
    const tell = async (what: string) => {
      if (what !== "asked running") return;
      asked.open();
      await release.opened;
    };
    const caller: ReActAgent = keeper(first, { tell });
    const other = keeper(second);
    const running = caller.call("running", { ...session, callId: "running" });
    await asked.opened;
    // On the other node: files show of each node only the first that waits.
    const waiting = other.call("waiting", { ...session, callId: "waiting" });
    await eventually(async () => (await second.gate.calls(slot)).length === 2);
    return { other, running, waiting, release };
  }

  test.sequential("keeps the messages of two interrupts in a row, and stops the running call only", async () => {
    await using nodes = await twoNodes(kind);
    const { other, running, waiting } = await runningAndWaiting(nodes.stores);
    const answers = await Promise.all([
      other.interrupt("u", "s", "stop"),
      other.interrupt("u", "s", "stop, I say"),
    ]);
    expect(answers.filter((answer) => answer !== "stopped" && answer !== "queued")).toEqual([]);
    expect(answers).toContain("stopped");
    expect((await running).reason).toBe("interrupted");
    expect(await waiting).toMatchObject({ reason: "stop", text: "re: waiting" });
    await other.call("next", session);
    const { context, log } = await transcript(nodes.stores[1], slot);
    for (const message of ["stop", "stop, I say"]) {
      expect(context.filter((text) => text === message)).toEqual([message]);
      expect(log.filter((text) => text === message)).toEqual([message]);
    }
  });

  test.sequential("with a callId hits that call and no other", async () => {
    await using nodes = await twoNodes(kind);
    const { other, running, waiting, release } = await runningAndWaiting(nodes.stores);
    expect(await other.interrupt("u", "s", undefined, { callId: "neither" })).toBe(false);
    expect(await other.interrupt("u", "s", "not you", { callId: "neither" })).toBe(false);
    expect(await other.interrupt("u", "s", undefined, { callId: "waiting" })).toBe("stopped");
    release.open();
    expect(await running).toMatchObject({ reason: "stop", text: "re: running" });
    expect((await waiting).reason).toBe("interrupted");
    expect(await other.interrupt("u", "s", "too late", { callId: "waiting" })).toBe(false);
    expect(await other.interrupt("u", "s", "too late")).toBe(false);
    await other.call("next", session);
    const { context } = await transcript(nodes.stores[1], slot);
    expect(context).toEqual(["running", "re: running", "waiting", "next", "re: next"]);
  });
});
