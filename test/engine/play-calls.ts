import {
  type AgentReply,
  AgentState,
  type CallInput,
  type Compactor,
  definePlugin,
  InProcessSessionGate,
  type LogRecord,
  type Message,
  type Middleware,
  ReActAgent,
  StateConflictError,
  StateTooLargeError,
  tool,
} from "@holdfast/core";
import { CallOutcomes, isDiscarded, loadWhole, type RunOutcome } from "@holdfast/core/store-kit";
import { scriptedModel } from "@holdfast/testing";
import { z } from "zod";
import { keptRuns, logRecords, slotOf } from "./conversation.js";
import { door } from "./door.js";
import { type Fault, FaultyStore, lostAnswer, unavailable } from "./faulty-store.js";
import type { CommandFault, PlannedCall, PlannedCalls, StepKind } from "./random-calls.js";

/** One run of a call: what it said, in order, and what is known of its end. */
export interface Run {
  readonly tokens: string[];
  /** What its model saw. */
  readonly seen: Set<string>;
  isTakenBack: boolean;
  /** It came to an answer: nothing of it was cut short. */
  isWhole: boolean;
  end: "kept" | "discarded" | "died" | "unknown";
}

/** Outcome of planned calls. */
export interface PlayedCalls {
  readonly store: FaultyStore;
  readonly runs: readonly Run[];
  /** Tokens that were in a context, as the model of a run that did not die saw. */
  readonly seen: ReadonlySet<string>;
  /** Tokens that were in the stored context when a call had ended, to stay. */
  readonly stored: ReadonlySet<string>;
  readonly records: readonly LogRecord[];
  /** How the call of each record ended. */
  readonly outcomes: ReadonlyMap<LogRecord, RunOutcome | null>;
  readonly discarded: ReadonlySet<LogRecord>;
}

const ctx = { sessionId: "s" };

/** Takes everything but the last two messages out of the context, as soon as there are more than four. */
const shortening: Compactor = {
  proactive: true,
  async compact({ state, dropping }) {
    const messagesBefore = state.context.length;
    const last = state.context.at(-3);
    const isPaired = !last?.content.some(({ type }) => type === "tool_call");
    if (messagesBefore <= 4 || !isPaired)
      return { compacted: false, messagesBefore, messagesAfter: messagesBefore };
    await dropping(state.context.slice(0, -2));
    state.contextMutable().replaceAll(state.context.slice(-2));
    return { compacted: true, messagesBefore, messagesAfter: 2 };
  },
};

/** Every stretch of what is said has a token of its own, by which it is found again. */
export function tokensIn(value: unknown): string[] {
  return JSON.stringify(value).match(/«\d+»/g) ?? [];
}

/** Plays calls one after the other on one session. */
export async function playCalls(plan: PlannedCalls): Promise<PlayedCalls> {
  const store = new FaultyStore({ fused: plan.fused });
  const runs: Run[] = [];
  const stored = new Set<string>();
  let count = 0;

  function newRun(): Run & { token(): string } {
    const run: Run = {
      tokens: [],
      seen: new Set(),
      isTakenBack: false,
      isWhole: false,
      end: "unknown",
    };
    runs.push(run);
    return Object.assign(run, {
      token() {
        const token = `«${++count}»`;
        run.tokens.push(token);
        return token;
      },
    });
  }

  /** An agent that plays one call, or goes on with it. */
  function agentFor(run: ReturnType<typeof newRun>, planned: PlannedCall, steps: StepKind[]) {
    const dead = door();
    const controller = new AbortController();
    const others: Promise<unknown>[] = [];
    const isDying = planned.steps.includes("death");
    const work = tool({
      name: "work",
      description: "Works.",
      input: z.object({ kind: z.string(), id: z.string() }),
      async execute({ kind }, { signal }) {
        if (kind === "stranger") await strangersCall();
        if (kind === "death") {
          dead.open();
          return new Promise(() => undefined);
        }
        if (kind === "abort") controller.abort();
        if (kind === "interrupt") await agent.interrupt(null, "s");
        // From behind another gate nobody can take it back.
        if (kind === "rollback" && isDying) return `${run.token()} whole`;
        if (kind === "rollback") {
          run.isTakenBack = true;
          others.push(laterCall());
        }
        if (["abort", "interrupt", "rollback"].includes(kind) && !signal?.aborted)
          await new Promise((resolve) => signal?.addEventListener("abort", resolve));
        return `${run.token()} whole`;
      },
    });
    const outside = tool({
      name: "outside",
      description: "Asks.",
      input: z.object({ id: z.string() }),
    });
    const cutting: Middleware = {
      name: "cutting",
      onToolResult: (result, { call }) =>
        (call.input as { kind?: string }).kind === "cut"
          ? { ...result, output: [{ type: "text", text: "cut" }] }
          : result,
    };
    const model = scriptedModel(({ messages }) => {
      for (const token of tokensIn(messages)) run.seen.add(token);
      const kind = steps.shift();
      if (kind === "outside")
        return { text: run.token(), toolCalls: [{ name: "outside", input: { id: run.token() } }] };
      if (kind !== undefined)
        return {
          text: run.token(),
          toolCalls: [{ name: "work", input: { kind, id: run.token() } }],
        };
      if (planned.end === "model error") return { error: new Error("no model") };
      if (planned.end === "save refused") store.every("save", refused);
      return run.token();
    });
    const laterCall = () => {
      const later = newRun();
      return callOf(later, { ...planned, callId: undefined, steps: [], end: "answer" }, "rollback");
    };
    const agent = new ReActAgent({
      name: "a",
      model,
      stateStore: store,
      // The dead keep their turn; those who come later have another gate.
      ...(isDying && { gate: new InProcessSessionGate() }),
      tools: [work, outside],
      middleware: [cutting],
      persistence: plan.persistence,
      conflictPolicy: plan.conflictPolicy,
      plugins: plan.compacts
        ? [
            definePlugin({
              name: "shortening",
              contract: 1,
              setup: (host) => host.provide("compactor", shortening),
            }),
          ]
        : [],
    });
    const call = async (input: CallInput, more: object): Promise<AgentReply | "died"> => {
      const running = agent.call(input, { ...ctx, signal: controller.signal, ...more });
      running.catch(() => undefined);
      try {
        return await Promise.race([running, dead.opened.then(() => "died" as const)]);
      } finally {
        // Also when the call failed: what took it back goes on.
        await Promise.all(others);
      }
    };
    return { call, agent };
  }

  async function strangersCall(): Promise<void> {
    const stranger = newRun();
    const model = scriptedModel(({ messages }) => {
      for (const token of tokensIn(messages)) stranger.seen.add(token);
      return stranger.token();
    });
    const gate = new InProcessSessionGate();
    await new ReActAgent({ name: "a", model, stateStore: store, gate })
      .call(stranger.token(), ctx)
      .then(
        () => {
          stranger.end = "kept";
        },
        () => undefined,
      );
  }

  async function callOf(
    run: ReturnType<typeof newRun>,
    planned: PlannedCall,
    onBusy: PlannedCall["onBusy"],
  ): Promise<void> {
    const steps = [...planned.steps];
    const { call, agent } = agentFor(run, planned, steps);
    try {
      const reply = await call(run.token(), { callId: planned.callId, onBusy });
      if (reply === "died") run.end = "died";
      else if (reply.reason === "interrupted" && run.isTakenBack) run.end = "discarded";
      else run.end = "kept";
      run.isWhole = reply !== "died" && reply.reason === "stop" && run.seen.size > 0;
      if (reply !== "died" && reply.reason === "tool_suspended") {
        const next = newRun();
        const results = reply.pending.map(({ toolCallId: callId }) => ({
          toolCallId: callId,
          output: next.token(),
        }));
        const answered = agentFor(next, planned, steps);
        await answered.call({ results }, {}).then(
          (further) => {
            next.end = further === "died" ? "died" : "unknown";
          },
          () => undefined,
        );
        if (next.end !== "died") await answered.agent.interrupt(null, "s").catch(() => undefined);
      }
    } catch (error) {
      const isLost = StateConflictError.is(error) && plan.persistence === "call";
      if (isLost) run.end = "discarded";
    } finally {
      store.every("save", undefined);
      // What waits for an answer from outside waits no longer.
      if (run.end !== "died") await agent.interrupt(null, "s").catch(() => undefined);
    }
  }

  for (const planned of plan.calls) {
    store.next("append", ...planned.appends.map(faultOf));
    store.next("save", ...planned.saves.map(faultOf));
    await callOf(newRun(), planned, planned.onBusy);
    for (const token of tokensIn(await settledMessages(store))) stored.add(token);
  }
  const living = runs.filter(({ end }) => end !== "died");
  const seen = new Set(living.flatMap((run) => [...run.seen]));
  return { store, runs, seen, stored, ...(await readLog(store)) };
}

/** The stored messages, without those of a run that may still be taken back. */
async function settledMessages(store: FaultyStore): Promise<readonly Message[]> {
  const loaded = await loadWhole(store.inner, slotOf());
  if (loaded === null) return [];
  const open = new Set(keptRuns(AgentState.fromParts(loaded)).unfinishedRun?.messageIds);
  return loaded.messages.filter(({ id }) => !open.has(id));
}

async function readLog(store: FaultyStore) {
  const log = store.inner.companions().log;
  const records = await logRecords(log, slotOf());
  const found = new CallOutcomes(log, { stateStore: store.inner });
  const outcomes = new Map<LogRecord, RunOutcome | null>();
  for (const record of records) outcomes.set(record, await found.of(slotOf(), record));
  const discarded = new Set(records.filter((one) => isDiscarded(outcomes.get(one) ?? null)));
  return { records, outcomes, discarded };
}

const refused: Fault = async () => {
  throw new StateTooLargeError("too large");
};

function faultOf(fault: CommandFault): Fault | undefined {
  if (fault === "none") return undefined;
  return fault === "lost" ? lostAnswer : unavailable;
}
