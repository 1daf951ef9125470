import type { PendingCall } from "../../events/agent-reply.js";
import { createMessage } from "../../message/create-message.js";
import type { Message, ToolCallBlock, ToolResultBlock } from "../../message/message.js";
import type { ActingStep, ToolCallStep } from "../../middleware/middleware.js";
import { uuidv7 } from "../../slot/uuid.js";
import type { Tool } from "../../tool/tool.js";
import { onion } from "../assemble/compose.js";
import { type CallScope, stepOf } from "../loop/call-scope.js";
import { textResult } from "./close-calls.js";
import { fitResults } from "./fit-results.js";
import { judgeCall, type Verdict } from "./judge-call.js";
import { CallSuspended, runTool } from "./run-tool.js";

/** What came of running tool calls. */
export interface Acted {
  /** Calls that wait for somebody; empty when the loop can go on. */
  readonly pending: readonly PendingCall[];
  readonly reason: "permission_asking" | "tool_suspended" | null;
  /** A middleware wants the call to end here. */
  readonly stopRequested: boolean;
}

/** A call that may run now. */
interface Runnable {
  readonly call: ToolCallBlock;
  readonly tool: Tool;
  readonly input: unknown;
}

/**
 * Runs the open calls among `calls` and puts their results into the context.
 *
 * When one of them has to ask, none runs: those that may are kept as `allowed` and run after the answer.
 *
 * @param approved - calls a person has approved: they ask no more, but a guard may still deny them
 */
export async function act(
  scope: CallScope,
  calls: readonly ToolCallBlock[],
  approved: ReadonlySet<string> = new Set(),
): Promise<Acted> {
  const verdicts = await Promise.all(
    calls.map((call) => judgeCall(scope, call, approved.has(call.id))),
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
    else runnable.push({ call, tool: verdict.tool, input: verdict.input });
  }
  const { openCalls } = scope.session.state;
  if (asking.length > 0) {
    for (const { toolCallId } of asking) openCalls[toolCallId] = "asking";
    for (const { call } of runnable) openCalls[call.id] = "allowed";
    addResults(scope, calls, results, results);
    scope.emit({ type: "permission_ask", pending: asking });
    return { pending: asking, reason: "permission_asking", stopRequested: false };
  }
  return runAll(scope, calls, runnable, results);
}

async function runAll(
  scope: CallScope,
  calls: readonly ToolCallBlock[],
  runnable: readonly Runnable[],
  results: Map<string, ToolResultBlock>,
): Promise<Acted> {
  const originals = new Map(results);
  const suspended: PendingCall[] = [];
  let stopRequested = false;
  const { openCalls } = scope.session.state;
  for (const { call } of runnable) openCalls[call.id] = "started";
  if (runnable.length > 0) await scope.stepDone();
  const step: ActingStep = Object.assign(stepOf(scope), {
    calls: runnable.map(({ call }) => call),
    stop: () => {
      stopRequested = true;
    },
  });
  const told = new Set<string>();
  try {
    const ran = await onion(scope.parts.hooks.onActing, step, async () => {
      const settled = await allSettled(
        runnable.map((one) => runOne(scope, one, originals, suspended)),
      );
      const finished = settled.filter((result) => result !== null);
      for (const { toolCallId } of finished) told.add(toolCallId);
      return finished;
    });
    for (const result of ran) {
      results.set(result.toolCallId, result);
      if (!told.has(result.toolCallId)) emitResult(scope, result);
    }
  } catch (error) {
    // The call fails; what its tools have done all the same stays known.
    addResults(scope, calls, originals, originals);
    throw error;
  }
  const pending = suspended.filter(({ toolCallId }) => !results.has(toolCallId));
  for (const { toolCallId } of pending) openCalls[toolCallId] = "pending";
  for (const { call } of runnable)
    if (!results.has(call.id) && openCalls[call.id] !== "pending")
      results.set(call.id, textResult(call, "A middleware left the result out.", "error"));
  addResults(scope, calls, results, originals);
  return { pending, reason: pending.length > 0 ? "tool_suspended" : null, stopRequested };
}

/** As `Promise.all`, but when one fails the others are waited for: no tool outlives its call. */
async function allSettled<T>(work: readonly Promise<T>[]): Promise<readonly T[]> {
  await Promise.allSettled(work);
  return Promise.all(work);
}

/** Runs one call inside its hooks; null when it is suspended. */
async function runOne(
  scope: CallScope,
  { call, tool, input }: Runnable,
  originals: Map<string, ToolResultBlock>,
  suspended: PendingCall[],
): Promise<ToolResultBlock | null> {
  const began = performance.now();
  const step = Object.assign(stepOf(scope), { call, tool });
  let result: ToolResultBlock;
  try {
    result = await onion(scope.parts.hooks.onToolCall, step, async () => {
      const original = await runTool({
        tool,
        call,
        input,
        ctx: scope.ctx,
        stop: scope.stop,
        timeoutMs: tool.timeoutMs ?? scope.parts.settings.toolTimeoutMs,
      });
      originals.set(call.id, original);
      return original;
    });
    result = await refineResult(scope, step, result);
  } catch (error) {
    if (!(error instanceof CallSuspended)) throw error;
    suspended.push({
      toolCallId: call.id,
      name: call.name,
      input: call.input,
      state: "suspended",
      ...(error.reason !== undefined && { reason: error.reason }),
    });
    return null;
  }
  emitResult(scope, result, performance.now() - began);
  return result;
}

/** What the `onToolResult` hooks make of a result. */
export async function refineResult(
  scope: CallScope,
  step: ToolCallStep,
  result: ToolResultBlock,
): Promise<ToolResultBlock> {
  let refined = result;
  for (const hook of scope.parts.hooks.onToolResult) refined = await hook(refined, step);
  return refined;
}

/** Tells whoever watches what came of a call; `durationMs` is 0 for one that did not run. */
export function emitResult(
  scope: CallScope,
  { toolCallId, name, state }: ToolResultBlock,
  durationMs = 0,
): void {
  scope.emit({ type: "tool_result", toolCallId, name, state, durationMs });
}

/** One message with the results that are there, in the order of the calls; the log keeps the originals. */
function addResults(
  scope: CallScope,
  calls: readonly ToolCallBlock[],
  results: ReadonlyMap<string, ToolResultBlock>,
  originals: ReadonlyMap<string, ToolResultBlock>,
): void {
  const { openCalls } = scope.session.state;
  const present = calls.flatMap((call) => results.get(call.id) ?? []);
  if (present.length === 0) return;
  const id = uuidv7();
  const make = (blocks: readonly ToolResultBlock[]): Message =>
    createMessage("tool", blocks, { id, createdAt: scope.parts.now() });
  const original = make(
    calls.flatMap((call) => originals.get(call.id) ?? results.get(call.id) ?? []),
  );
  const changed = present.some((result) => result !== (originals.get(result.toolCallId) ?? result));
  const message = fitResults(
    changed ? make(present) : original,
    scope.parts.settings.limits.messageBytes,
  );
  scope.session.say(message, original);
  for (const { toolCallId } of present) delete openCalls[toolCallId];
}
