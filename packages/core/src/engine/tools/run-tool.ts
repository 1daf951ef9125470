import { messageOf } from "../../errors/message-of.js";
import type { JsonValue } from "../../json/json.js";
import type { ToolCallBlock, ToolResultBlock } from "../../message/message.js";
import type { ToolCallStep } from "../../middleware/middleware.js";
import { withFixedRules } from "../../state/with-fixed-rules.js";
import { longestTimerMs } from "../../store-kit/deadline.js";
import { MAX_QUESTIONS, type ToolQuestion } from "../../tool/question.js";
import { isExplicitToolResult, isSuspended, type Suspended, type Tool } from "../../tool/tool.js";
import { compose } from "../assemble/compose.js";
import type { Confirmation, QuestionAnswer } from "../call-input.js";
import { type CallScope, stepOf } from "../call-scope.js";
import { receiveResult } from "../receive.js";
import { askQuestion } from "./call-questions.js";
import { questionOf } from "./open-calls.js";
import { ToolProgress } from "./tool-progress.js";
import {
  emitResult,
  failureAs,
  failureOf,
  type ToolFailure,
  textResult,
  toResult,
} from "./tool-results.js";

/** Answers for the agent that a tool call runs. */
export type DelegatedAnswers =
  | { readonly confirm: readonly Confirmation[] }
  | { readonly answers: readonly QuestionAnswer[] };

/** A call that may run now. */
export interface Runnable {
  readonly call: ToolCallBlock;
  readonly tool: Tool;
  /** The validated input. */
  readonly input: unknown;
  /** Answers of a person to the agent that the tool runs, when the call goes on with them. */
  readonly delegated?: DelegatedAnswers | undefined;
}

/** A call that has run and waits, for a result from outside or for answers that another agent needs. */
export interface SuspendedCall {
  readonly call: ToolCallBlock;
  readonly tool: Tool;
  readonly reason: string | undefined;
}

/** Thrown through the hooks of a tool call whose answer comes from outside. */
class CallSuspended extends Error {
  override readonly name = "CallSuspended";
  readonly reason: string | undefined;
  readonly question: ToolQuestion | undefined;

  constructor({ reason, question }: Partial<Pick<Suspended, "reason" | "question">> = {}) {
    super("the tool call is suspended");
    this.reason = reason;
    this.question = question;
  }
}

/**
 * Runs one call inside its hooks, and returns its result.
 *
 * @param originals - gets the result as the log keeps it
 * @param suspended - gets the call when its answer comes from outside
 * @returns null when it is suspended
 */
export async function runCall(
  scope: CallScope,
  runnable: Runnable,
  originals: Map<string, ToolResultBlock>,
  suspended: SuspendedCall[],
): Promise<ToolResultBlock | null> {
  const { call, tool } = runnable;
  const began = performance.now();
  const step = Object.assign(stepOf(scope), { call, tool });
  let result: ToolResultBlock;
  let thrown: ToolFailure | undefined;
  try {
    result = await compose(scope.parts.hooks.onToolCall, step, async () => {
      const ran = await runTool(scope, runnable, (error) => {
        thrown = failureOf(error);
      });
      const original = await received(scope, ran, step, originals);
      thrown &&= failureAs(original, ran, thrown);
      return original;
    });
    // A hook's own result, in place of the tool's, comes from outside as well.
    if (!originals.has(call.id)) result = await received(scope, result, step, originals);
    result = await refineResult(scope, step, result);
  } catch (error) {
    if (!(error instanceof CallSuspended)) throw error;
    if (askQuestion(scope.session.state, call, error)) {
      suspended.push({ call, tool, reason: error.reason });
      return null;
    }
    const text = `${call.name} could not ask its question: what the session's calls ask is too long together.`;
    result = await received(scope, textResult(call, text, "error"), step, originals);
  }
  emitResult(scope, result, performance.now() - began, thrown);
  return result;
}

/** Returns a result as the `onIncoming` hooks leave it, which is what the log keeps; of one that they fail on, nothing. */
export async function received(
  scope: CallScope,
  result: ToolResultBlock,
  { call, tool }: ToolCallStep,
  originals: Map<string, ToolResultBlock>,
): Promise<ToolResultBlock> {
  let original = result;
  if (scope.parts.hooks.onIncoming.length > 0) {
    const text = `The result of ${call.name} was withheld: a middleware failed on it.`;
    originals.set(call.id, textResult(call, text, "error"));
    original = await receiveResult(scope, result, { call, tool });
  }
  originals.set(call.id, original);
  return original;
}

/** Runs a result through the `onToolResult` hooks. */
export async function refineResult(
  scope: CallScope,
  step: ToolCallStep,
  result: ToolResultBlock,
): Promise<ToolResultBlock> {
  let refined = result;
  for (const hook of scope.parts.hooks.onToolResult) refined = await hook(refined, step);
  return refined;
}

/**
 * Runs one tool. Whatever it does becomes a result the model can read: what it throws, running out of time, being
 * stopped. A tool that ignores its signal is not waited for.
 *
 * @param failed - told what the tool threw, or gave as the cause of its result
 * @throws CallSuspended when the answer comes from outside
 */
async function runTool(
  scope: CallScope,
  runnable: Runnable,
  failed: (error: unknown) => void,
): Promise<ToolResultBlock> {
  const { stop, parts } = scope;
  const { tool, call } = runnable;
  const { id: toolCallId, name } = call;
  const timeoutMs = tool.timeoutMs ?? parts.settings.toolTimeoutMs;
  if (!tool.execute) throw new CallSuspended();
  await checkLease(scope);
  if (stop.kind !== null) return stopped(call, "before it could start");
  scope.notBegun.delete(toolCallId);
  const controller = new AbortController();
  const progress = new ToolProgress((reported) =>
    scope.emit({ type: "tool_progress", toolCallId, name, progress: reported }),
  );
  const forward = () => controller.abort(stop.signal.reason);
  stop.signal.addEventListener("abort", forward, { once: true });
  const timer = setTimeout(
    () => controller.abort(new DOMException(`no result within ${timeoutMs} ms`, "TimeoutError")),
    Math.min(timeoutMs, longestTimerMs),
  );
  try {
    const output = await settled(
      execute(scope, runnable, controller.signal, progress),
      controller.signal,
    );
    if (isSuspended(output)) {
      const asked = questionOf(scope.session.state, call)?.answers.length ?? 0;
      if (output.question && asked >= MAX_QUESTIONS)
        return textResult(call, `${name} asked more than ${MAX_QUESTIONS} questions.`, "error");
      throw new CallSuspended(output);
    }
    if (output instanceof Error) {
      failed(output);
      return textResult(call, `${tool.name} returned an error: ${messageOf(output)}`, "error");
    }
    if (isExplicitToolResult(output) && output.cause !== undefined) failed(output.cause);
    return toResult(call, output);
  } catch (error) {
    if (error instanceof CallSuspended) throw error;
    if (stop.kind !== null) return stopped(call, "while it ran; its outcome is unknown");
    if (controller.signal.aborted) {
      failed(controller.signal.reason);
      return textResult(
        call,
        `${tool.name} gave no result within ${timeoutMs} ms and was told to stop; it may still have done part of its work.`,
        "error",
      );
    }
    failed(error);
    return textResult(call, `${tool.name} failed: ${messageOf(error)}`, "error");
  } finally {
    clearTimeout(timer);
    progress.end();
    stop.signal.removeEventListener("abort", forward);
  }
}

/** Stops the call when its lease no longer holds: another process may be running the session. Waits while it is in doubt. */
async function checkLease({ session, stop }: CallScope): Promise<void> {
  if (session.isLeaseInDoubt()) await stop.race(session.confirmLease()).catch(() => undefined);
  if (!session.holdsLease()) stop.stop("lease_lost");
}

async function execute(
  { slot, ctx: given, session }: CallScope,
  { tool, call, input, delegated }: Runnable,
  signal: AbortSignal,
  progress: ToolProgress,
): Promise<unknown> {
  // Assigned: a context may be one of another copy of this package.
  const { agentState } = given;
  const answers = questionOf(session.state, call)?.answers ?? [];
  const about = {
    ...{ slot, agentId: slot.agentId, toolCallId: call.id, answers },
    agentState: agentState && withFixedRules(agentState),
    progress: (value: JsonValue) => progress.report(value),
  };
  const ctx = Object.assign(given.withSignal(signal), about);
  if (delegated && tool.delegation)
    return "confirm" in delegated
      ? tool.delegation.answer(delegated.confirm, input as never, ctx)
      : tool.delegation.answerQuestions?.(delegated.answers, input as never, ctx);
  return tool.execute?.(input as never, ctx);
}

/** As `work`, or rejected soon after `signal` aborts: a tool that heeds the signal gets to answer first. */
function settled(work: Promise<unknown>, signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const give = () => setImmediate(() => reject(signal.reason));
    // The tool may have caused the stop itself, in its first tick.
    if (signal.aborted) give();
    signal.addEventListener("abort", give, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", give));
  });
}

function stopped(call: ToolCallBlock, when: string): ToolResultBlock {
  return textResult(call, `${call.name} was interrupted ${when}.`, "interrupted");
}
