import {
  type AgentStateStore,
  type Compactor,
  definePlugin,
  InMemoryAgentStateStore,
  type LogRecord,
  ReActAgent,
  type Slot,
  suspend,
  tool,
} from "@holdfast/core";
import { CallOutcomes, isDiscarded, loadWhole, runIdOf } from "@holdfast/core/store-kit";
import { scaled } from "@holdfast/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { z } from "zod";
import { partsOf } from "../encryption/subjects.js";
import { logRecords, slotOf } from "./conversation.js";
import { playCalls, tokensIn } from "./play-calls.js";
import { plannedCalls } from "./random-calls.js";
import { pairedModel, pairingProblem, stateProblem } from "./valid-pairing.js";

type Said = LogRecord & { readonly message: NonNullable<LogRecord["message"]> };

/** Everything that is stored of a session, as text. */
async function stored(store: AgentStateStore, slot: Slot): Promise<string> {
  return JSON.stringify([await loadWhole(store, slot), await logRecords(store, slot)]);
}

/** Messages of a session's log that are part of it, without those of runs that have not ended. */
async function saidIn(store: AgentStateStore, slot: Slot): Promise<readonly Said[]> {
  const outcomes = new CallOutcomes(partsOf(store).log, { stateStore: store });
  const said: Said[] = [];
  const { head } = (await loadWhole(store, slot)) ?? {};
  const unfinished = head?.["unfinishedRun"] as { runId?: string } | null | undefined;
  for (const record of await logRecords(store, slot)) {
    if (runIdOf(record) === unfinished?.runId) continue;
    const outcome = await outcomes.of(slot, record);
    const belongsToRun = runIdOf({ id: record.id, callId: "" }) !== "";
    if (record.message && !isDiscarded(outcome) && (outcome !== null || !belongsToRun))
      said.push(record as Said);
  }
  return said;
}

/** A store with the same session, which those whose death was only played do not reach; null when there is none. */
async function copied(store: AgentStateStore, fused: boolean): Promise<AgentStateStore | null> {
  const loaded = await loadWhole(store, slotOf());
  if (loaded === null) return null;
  const records = await logRecords(store, slotOf());
  const copy = new InMemoryAgentStateStore({ fused });
  const { messages: append, revision, head, info } = loaded;
  const drafts = records.map(({ seq: _, blobs: __, ...draft }) => draft);
  await copy.companions().log.append(slotOf(), drafts);
  const write = { op: "copy", expected: null, keep: 0, replace: [] };
  await copy.save(slotOf(), { ...write, append, revision, head, info });
  return copy;
}

/** Forks at a position and checks that the fork has the turns up to there, and that the source is as it was. */
async function checkFork(store: AgentStateStore, at: number | undefined): Promise<unknown> {
  const model = pairedModel(() => "ok");
  const agent = new ReActAgent({ name: "a", model, stateStore: store });
  const before = await stored(store, slotOf());
  const all = await saidIn(store, slotOf());
  const upTo = all.filter(({ seq }) => seq <= (at ?? Number.POSITIVE_INFINITY));
  const slot = await agent.fork({ sessionId: "s" }, { at });
  expect(await stored(store, slotOf())).toBe(before);

  const copied = await saidIn(store, slot);
  expect(copied.map(({ message, callId, at }) => ({ message, callId, at }))).toEqual(
    upTo.slice(0, copied.length).map(({ message, callId, at }) => ({ message, callId, at })),
  );
  const records = await logRecords(store, slot);
  expect(records.filter(({ message }) => message)).toHaveLength(copied.length);
  expect(new Set(records.map(({ id }) => id)).size).toBe(records.length);
  // Only a message whose calls are not all answered by then is left out, with what is behind it.
  const left = upTo.slice(copied.length).map(({ message }) => message);
  if (left.length > 0) expect(pairingProblem(left)).not.toBeNull();

  const state = await agent.getAgentState(slot);
  expect(state && stateProblem(state)).toBeNull();
  expect(state?.openCalls).toEqual({});
  await agent.call("What now?", slot);
  expect(await stored(store, slotOf())).toBe(before);
  return model.requests.at(-1)?.messages;
}

test("a fork of any session, whatever happened to it, has its turns up to the position and changes nothing in it", async () => {
  const property = fc.asyncProperty(plannedCalls, fc.nat(), async (plan, choice) => {
    const { store: played } = await playCalls(plan);
    const store = await copied(played.inner, plan.fused);
    if (store === null) return;
    const said = await saidIn(store, slotOf());
    const at = said[choice % (said.length + 1)]?.seq;
    const seen = tokensIn(await checkFork(store, at));
    const later = said.filter(({ seq }) => at !== undefined && seq > at);
    const tokens = new Set(said.filter((one) => !later.includes(one)).flatMap(tokensIn));
    expect(seen.filter((token) => !tokens.has(token))).toEqual([]);
  });
  await fc.assert(property, { numRuns: scaled(30, 3_000) });
});

/** Summarises all but the last messages by their tokens, and now and then the first words of a user stay as well. */
const summing: Compactor = {
  async compact({ state, dropping }) {
    const messagesBefore = state.context.length;
    const start = state.context.findLastIndex(({ role }) => role === "user");
    const earlier = state.context.slice(0, Math.max(start, 0));
    const first = earlier.find(
      ({ role, content }) => role === "user" && content[0]?.type === "text",
    );
    const pinned = first && messagesBefore % 2 === 0 ? [first] : [];
    const dropped = earlier.filter((message) => !pinned.includes(message));
    if (dropped.length < 2)
      return { compacted: false, messagesBefore, messagesAfter: messagesBefore };
    await dropping(dropped);
    state.contextMutable().replaceAll([...pinned, ...state.context.slice(start)]);
    state.summary = tokensIn(dropped).join(" ");
    return { compacted: true, messagesBefore, messagesAfter: state.context.length };
  },
};

const turn = fc.record({
  kind: fc.constantFrom("say", "say", "work", "work twice", "wait", "compact", "compact"),
  results: fc.integer({ min: 1, max: 3 }),
});

test("a fork of a compacted session knows everything that was said up to its position, and nothing of what came later", async () => {
  const property = fc.asyncProperty(
    fc.boolean(),
    fc.array(turn, { minLength: 2, maxLength: 8 }),
    fc.nat(),
    async (fused, turns, choice) => {
      let count = 0;
      const token = () => `«${++count}»`;
      const steps: ("work" | "wait")[] = [];
      let results = 1;
      const store = new InMemoryAgentStateStore({ fused });
      const input = z.object({ token: z.string() });
      const agent = new ReActAgent({
        name: "a",
        stateStore: store,
        model: pairedModel(() => {
          const name = steps.shift();
          const toolCalls = Array.from({ length: name ? results : 0 }, () => ({
            name: name as string,
            input: { token: token() },
          }));
          return { text: token(), toolCalls };
        }),
        tools: [
          tool({ name: "work", description: "Works.", input, execute: () => token() }),
          tool({ name: "wait", description: "Waits.", input, execute: () => suspend() }),
        ],
        plugins: [
          definePlugin({
            name: "summing",
            contract: 1,
            setup: (host) => host.provide("compactor", summing),
          }),
        ],
      });
      for (const { kind, results: wanted } of turns) {
        results = wanted;
        steps.splice(0);
        if (kind === "compact") await agent.compact({ sessionId: "s" }, { force: true });
        else {
          if (kind === "wait") steps.push("wait");
          if (kind.startsWith("work"))
            steps.push("work", ...(kind === "work" ? [] : ["work" as const]));
          await agent.call(token(), { sessionId: "s", onPending: "deny" });
        }
      }
      if ((await loadWhole(store, slotOf())) === null) return;
      const said = await saidIn(store, slotOf());
      const at = said[choice % (said.length + 1)]?.seq;
      const seen = new Set(tokensIn(await checkFork(store, at)));
      const upTo = said.filter(({ seq }) => seq <= (at ?? Number.POSITIVE_INFINITY));
      let whole = upTo;
      while (pairingProblem(whole.map(({ message }) => message)) !== null)
        whole = whole.slice(0, -1);
      expect([...seen].sort()).toEqual([...new Set(whole.flatMap(tokensIn))].sort());
    },
  );
  await fc.assert(property, { numRuns: scaled(40, 3_000) });
});
