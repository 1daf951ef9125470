import type { RuntimeContext } from "../../context/runtime-context.js";
import { type JsonValue, toJsonValue } from "../../json/json.js";
import { readableJson } from "../../json/readable-json.js";
import { toolResultMessage } from "../../message/create-message.js";
import type {
  DataBlock,
  TextBlock,
  ToolCallBlock,
  ToolResultBlock,
} from "../../message/message.js";
import { outputProblem } from "../../message/message-problem.js";
import type { Slot } from "../../slot/slot.js";
import { withFixedRules } from "../../state/with-fixed-rules.js";
import { longestTimerMs } from "../../store-kit/deadline.js";
import { isExplicitToolResult, isSuspended, type Tool } from "../../tool/tool.js";
import type { Confirmation } from "../call-input.js";
import type { StopSwitch } from "../session/stop-switch.js";
import { ToolProgress } from "./tool-progress.js";
import { messageOf, textResult } from "./tool-results.js";

/** Thrown through the hooks of a tool call whose answer comes from outside. */
export class CallSuspended extends Error {
  override readonly name = "CallSuspended";
  readonly reason: string | undefined;

  constructor(reason: string | undefined) {
    super("the tool call is suspended");
    this.reason = reason;
  }
}

/** One run of a tool: its input, context and limits. */
export interface ToolRun {
  readonly tool: Tool;
  readonly call: ToolCallBlock;
  /** The validated input. */
  readonly input: unknown;
  /** Answers of a person to the agent that the tool runs, when the call goes on with them. */
  readonly answers: readonly Confirmation[] | undefined;
  readonly ctx: RuntimeContext;
  readonly slot: Slot;
  readonly stop: StopSwitch;
  readonly timeoutMs: number;
  /** Told what the tool threw, or gave as the cause of its result. */
  failed(error: unknown): void;
  /** Told what the tool reports of its progress. */
  progressed(progress: JsonValue): void;
  /** Stops the call when its lease no longer holds: another process may be running the session. Waits while it is in doubt. */
  checkLease(): Promise<void>;
}

/**
 * Runs one tool. Whatever it does becomes a result the model can read: what it throws, running out of time, being
 * stopped. A tool that ignores its signal is not waited for.
 *
 * @throws CallSuspended when the answer comes from outside
 */
export async function runTool(run: ToolRun): Promise<ToolResultBlock> {
  const { tool, call, stop, timeoutMs } = run;
  if (!tool.execute) throw new CallSuspended(undefined);
  await run.checkLease();
  if (stop.kind !== null) return stopped(call, "before it could start");
  const controller = new AbortController();
  const progress = new ToolProgress(run.progressed);
  const forward = () => controller.abort(stop.signal.reason);
  stop.signal.addEventListener("abort", forward, { once: true });
  const timer = setTimeout(
    () => controller.abort(new DOMException(`no result within ${timeoutMs} ms`, "TimeoutError")),
    Math.min(timeoutMs, longestTimerMs),
  );
  try {
    const output = await settled(execute(run, controller.signal, progress), controller.signal);
    if (isSuspended(output)) throw new CallSuspended(output.reason);
    if (output instanceof Error) {
      run.failed(output);
      return textResult(call, `${tool.name} returned an error: ${messageOf(output)}`, "error");
    }
    if (isExplicitToolResult(output) && output.cause !== undefined) run.failed(output.cause);
    return toResult(call, output);
  } catch (error) {
    if (error instanceof CallSuspended) throw error;
    if (stop.kind !== null) return stopped(call, "while it ran; its outcome is unknown");
    if (controller.signal.aborted) {
      run.failed(controller.signal.reason);
      return textResult(
        call,
        `${tool.name} gave no result within ${timeoutMs} ms and was told to stop; it may still have done part of its work.`,
        "error",
      );
    }
    run.failed(error);
    return textResult(call, `${tool.name} failed: ${messageOf(error)}`, "error");
  } finally {
    clearTimeout(timer);
    progress.end();
    stop.signal.removeEventListener("abort", forward);
  }
}

async function execute(
  run: ToolRun,
  signal: AbortSignal,
  progress: ToolProgress,
): Promise<unknown> {
  const { tool, call, input, slot, answers } = run;
  // Assigned: a context may be one of another copy of this package.
  const { agentState } = run.ctx;
  const about = {
    ...{ slot, agentId: slot.agentId, toolCallId: call.id },
    agentState: agentState && withFixedRules(agentState),
    progress: (value: JsonValue) => progress.report(value),
  };
  const ctx = Object.assign(run.ctx.withSignal(signal), about);
  if (answers && tool.delegation) return tool.delegation.answer(answers, input as never, ctx);
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

/** Turns what a tool returned into a result that a message can hold. What it did is done, whatever it returned. */
function toResult(call: ToolCallBlock, value: unknown): ToolResultBlock {
  const explicit = isExplicitToolResult(value);
  try {
    const message = toolResultMessage({
      type: "tool_result",
      toolCallId: call.id,
      name: call.name,
      output: explicit ? toOutput(value.output, call.name) : readableOutput(value),
      state: explicit ? value.state : "success",
      metadata: explicit ? value.metadata : undefined,
    });
    return message.content[0] as ToolResultBlock;
  } catch (error) {
    const text = `${call.name} has run, but its result cannot be shown: ${messageOf(error)}`;
    return textResult(call, text, "error");
  }
}

/** As {@link toOutput}, with words for what JSON cannot hold. */
function readableOutput(value: unknown): readonly (TextBlock | DataBlock)[] {
  if (typeof value === "string" || value === undefined) return toOutput(value, "");
  const json = readableJson(value);
  // Words in place of a value, such as the digits of a bigint, need no quotes.
  return typeof json === "string" ? toOutput(json, "") : outputOf(json);
}

/** Text as it is, blocks as they are, anything else as JSON text. @throws InvalidInputError */
export function toOutput(value: unknown, name: string): readonly (TextBlock | DataBlock)[] {
  if (typeof value === "string") return [{ type: "text", text: value }];
  if (value === undefined) return [{ type: "text", text: "(no output)" }];
  return outputOf(toJsonValue(value, `the output of ${name}`));
}

function outputOf(json: JsonValue): readonly (TextBlock | DataBlock)[] {
  if (Array.isArray(json) && json.length > 0 && outputProblem(json) === null)
    return json as unknown as readonly (TextBlock | DataBlock)[];
  return [{ type: "text", text: JSON.stringify(json) }];
}
