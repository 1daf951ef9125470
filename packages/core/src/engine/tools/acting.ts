import type { PendingCall } from "../../events/agent-reply.js";
import type { ToolCallBlock, ToolResultBlock } from "../../message/message.js";
import type { ActingStep } from "../../middleware/middleware.js";
import { compose } from "../assemble/compose.js";
import { type CallScope, stepOf } from "../call-scope.js";
import { badState } from "../save/check-state.js";
import { saveNow, saveStep } from "../save/save-session.js";
import { judgeCall, type Verdict } from "./judge-call.js";
import { KeptResults } from "./kept-results.js";
import { questionOf } from "./open-calls.js";
import {
  type DelegatedAnswers,
  type Runnable,
  received,
  runCall,
  type SuspendedCall,
} from "./run-tool.js";
import { addResults, emitResult, textResult } from "./tool-results.js";
import { asksPerson, suspendedCalls } from "./waiting-calls.js";

/** Result of running tool calls. */
export interface Acted {
  /** Calls among them that wait for an answer. */
  readonly pending: readonly PendingCall[];
  /** A middleware wants the call to end here. */
  readonly stopRequested: boolean;
}

/** Answers of people to calls that waited for them. */
export interface Answers {
  /** Calls that a person has approved: they ask no more, but a guard may still deny them. */
  readonly approved: ReadonlySet<string>;
  /** Answers for the agents that calls run, by tool call. */
  readonly delegated: ReadonlyMap<string, DelegatedAnswers>;
}

const noAnswers: Answers = { approved: new Set(), delegated: new Map() };

/**
 * Runs the calls that may run and puts their results into the context; those that ask wait for an answer.
 *
 * Calls of tools that run first come before the others, which are judged when those have ended.
 */
export async function act(
  scope: CallScope,
  calls: readonly ToolCallBlock[],
  answers: Answers = noAnswers,
): Promise<Acted> {
  const { tools } = scope.parts;
  const isPlanning = () => scope.session.state.planModeContext.active;
  const runsFirst = ({ name }: ToolCallBlock) => tools.get(name)?.runsFirst === true;
  const groups = [calls.filter(runsFirst), calls.filter((call) => !runsFirst(call))];
  const pending: PendingCall[] = [];
  let stopRequested = false;
  for (const group of groups) {
    if (group.length === 0) continue;
    const wasPlanning = isPlanning();
    const acted = await actTogether(scope, group, answers);
    // At once: agents that work for this session in other processes go by what is saved.
    if (!wasPlanning && isPlanning()) await saveNow(scope);
    pending.push(...acted.pending);
    stopRequested ||= acted.stopRequested;
  }
  return { pending, stopRequested };
}

async function actTogether(
  scope: CallScope,
  calls: readonly ToolCallBlock[],
  { approved, delegated }: Answers,
): Promise<Acted> {
  // A guard, `needsApproval` or a schema that hangs does not keep the call from being stopped.
  const verdicts = await scope.stop.race(
    Promise.all(calls.map((call) => judgeCall(scope, call, approved.has(call.id)))),
  );
  const results = new Map<string, ToolResultBlock>();
  const asking: PendingCall[] = [];
  const runnable: Runnable[] = [];
  for (const [index, call] of calls.entries()) {
    const verdict = verdicts[index] as Verdict;
    if (verdict.kind === "answered") {
      results.set(call.id, verdict.result);
      emitResult(scope, verdict.result);
    } else if (verdict.kind === "ask") asking.push(verdict.pending);
    else {
      const { tool, input } = verdict;
      runnable.push({ call, tool, input, delegated: delegated.get(call.id) });
    }
  }
  const { openCalls } = scope.session.state;
  for (const { toolCallId } of asking) openCalls[toolCallId] = "asking";
  if (asking.length > 0) scope.emit({ type: "permission_ask", pending: asking });
  if (runnable.length === 0 && asking.length > 0) {
    addResults(scope, inOrder(calls, results));
    return { pending: asking, stopRequested: false };
  }
  // A person approves one run: when the process dies, the next one has to know that it may have begun.
  const isApproved = runnable.some(({ call }) => approved.has(call.id));
  const begin = isApproved ? saveNow : saveStep;
  const { pending, stopRequested } = await runAll(scope, { calls, runnable, results, begin });
  return { pending: [...asking, ...pending], stopRequested };
}

/** Calls of one group, of which some may run and others are answered already. */
interface JudgedCalls {
  readonly calls: readonly ToolCallBlock[];
  readonly runnable: readonly Runnable[];
  readonly results: Map<string, ToolResultBlock>;
  /** Saves that the calls are about to run. */
  begin(scope: CallScope): Promise<void>;
}

async function runAll(
  scope: CallScope,
  { calls, runnable, results, begin }: JudgedCalls,
): Promise<Acted> {
  const originals = new Map(results);
  const suspended: SuspendedCall[] = [];
  let stopRequested = false;
  const { openCalls } = scope.session.state;
  for (const { call } of runnable) {
    openCalls[call.id] = "started";
    // One that goes on with an answer had begun before.
    if (questionOf(scope.session.state, call) === undefined) scope.notBegun.add(call.id);
  }
  if (runnable.length > 0) await begin(scope);
  const kept = KeptResults.of(scope, runnable.length);
  const step: ActingStep = Object.assign(stepOf(scope), {
    calls: runnable.map(({ call }) => call),
    stop: () => {
      stopRequested = true;
    },
  });
  const told = new Set<string>();
  try {
    const ran = await compose(scope.parts.hooks.onActing, step, async () => {
      const settled = await allSettled(
        runnable.map(async (one) => {
          const result = await runCall(scope, one, originals, suspended);
          await kept?.finished(one.call.id, result, originals.get(one.call.id));
          return result;
        }),
      );
      const finished = settled.filter((result) => result !== null);
      for (const { toolCallId } of finished) told.add(toolCallId);
      return finished;
    });
    for (const result of ran) {
      const own = runnable.find(({ call }) => call.id === result.toolCallId);
      if (!own || told.has(result.toolCallId)) results.set(result.toolCallId, result);
      else {
        const step = Object.assign(stepOf(scope), own);
        const taken = await received(scope, result, step, originals);
        results.set(result.toolCallId, taken);
        emitResult(scope, taken);
      }
    }
  } catch (error) {
    // The call fails; what its tools have done all the same stays known.
    addResults(scope, inOrder(calls, kept?.without(originals) ?? originals));
    throw error;
  }
  const waiting = suspended.filter(({ call }) => !results.has(call.id));
  for (const { call } of waiting) openCalls[call.id] = "pending";
  for (const { call } of runnable)
    if (!results.has(call.id) && openCalls[call.id] !== "pending")
      results.set(call.id, textResult(call, "A middleware left the result out.", "error"));
  kept?.amend(results);
  const added = inOrder(calls, kept?.without(results) ?? results);
  addResults(
    scope,
    added,
    added.map((result) => originals.get(result.toolCallId) ?? result),
  );
  checkSections(scope, runnable);
  const lists = await Promise.all(
    waiting.map(({ call, reason }) => suspendedCalls(scope, call, reason)),
  );
  // An agent that waits for nothing was stopped by the same shutdown as this call.
  if (waiting.some(({ tool }, index) => tool.delegation && !lists[index]?.some(asksPerson)))
    scope.checkpoint();
  const pending = lists.flat();
  const asking = pending.filter(({ state }) => state === "asking");
  const outside = pending.filter(({ state }) => state !== "asking");
  if (asking.length > 0) scope.emit({ type: "permission_ask", pending: asking });
  if (outside.length > 0) scope.emit({ type: "tool_suspended", pending: outside });
  return { pending, stopRequested };
}

/**
 * Ends the call at once when one of its tools has left a section that cannot be saved, instead of after the whole run.
 *
 * @throws InvalidInputError
 */
function checkSections({ session }: CallScope, ran: readonly Runnable[]): void {
  const problem = session.state.sectionProblem();
  if (problem === null) return;
  const names = [...new Set(ran.map(({ tool }) => tool.name))].join(", ");
  throw badState(session, names === "" ? "a hook" : `tool ${names}, or a hook around it,`, problem);
}

/** As `Promise.all`, but when one fails the others are waited for: no tool outlives its call. */
async function allSettled<T>(work: readonly Promise<T>[]): Promise<readonly T[]> {
  await Promise.allSettled(work);
  return Promise.all(work);
}

function inOrder(
  calls: readonly ToolCallBlock[],
  results: ReadonlyMap<string, ToolResultBlock>,
): readonly ToolResultBlock[] {
  return calls.flatMap((call) => results.get(call.id) ?? []);
}
