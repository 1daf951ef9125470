import type { RuntimeContext } from "../../context/runtime-context.js";
import { toJsonValue } from "../../json/json.js";
import { toolResultMessage } from "../../message/create-message.js";
import type {
  DataBlock,
  TextBlock,
  ToolCallBlock,
  ToolResultBlock,
} from "../../message/message.js";
import { outputProblem } from "../../message/message-problem.js";
import { longestTimerMs } from "../../store-kit/deadline.js";
import { isExplicitToolResult, isSuspended, type Tool } from "../../tool/tool.js";
import type { StopSwitch } from "../session/stop-switch.js";
import { textResult } from "./tool-results.js";

/** Thrown through the hooks of a tool call whose answer comes from outside. */
export class CallSuspended extends Error {
  override readonly name = "CallSuspended";
  readonly reason: string | undefined;

  constructor(reason: string | undefined) {
    super("the tool call is suspended");
    this.reason = reason;
  }
}

/** What a tool runs under. */
export interface ToolRun {
  readonly tool: Tool;
  readonly call: ToolCallBlock;
  /** The validated input. */
  readonly input: unknown;
  readonly ctx: RuntimeContext;
  readonly stop: StopSwitch;
  readonly timeoutMs: number;
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
  if (stop.kind !== null) return stopped(call, "before it could start");
  const controller = new AbortController();
  const forward = () => controller.abort(stop.signal.reason);
  stop.signal.addEventListener("abort", forward, { once: true });
  const timer = setTimeout(
    () => controller.abort(new DOMException(`no result within ${timeoutMs} ms`, "TimeoutError")),
    Math.min(timeoutMs, longestTimerMs),
  );
  try {
    const output = await settled(execute(run, controller.signal), controller.signal);
    if (isSuspended(output)) throw new CallSuspended(output.reason);
    return toResult(call, output);
  } catch (error) {
    if (error instanceof CallSuspended) throw error;
    if (stop.kind !== null) return stopped(call, "while it ran; its outcome is unknown");
    if (controller.signal.aborted)
      return textResult(
        call,
        `${tool.name} gave no result within ${timeoutMs} ms and was told to stop; it may still have done part of its work.`,
        "error",
      );
    return textResult(call, `${tool.name} failed: ${messageOf(error)}`, "error");
  } finally {
    clearTimeout(timer);
    stop.signal.removeEventListener("abort", forward);
  }
}

async function execute(run: ToolRun, signal: AbortSignal): Promise<unknown> {
  return run.tool.execute?.(run.input as never, run.ctx.withSignal(signal));
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

/**
 * What a tool returned, as a result that a message can hold.
 *
 * @throws InvalidInputError
 */
function toResult(call: ToolCallBlock, value: unknown): ToolResultBlock {
  const explicit = isExplicitToolResult(value);
  const message = toolResultMessage({
    type: "tool_result",
    toolCallId: call.id,
    name: call.name,
    output: toOutput(explicit ? value.output : value, call.name),
    state: explicit ? value.state : "success",
    metadata: explicit ? value.metadata : undefined,
  });
  return message.content[0] as ToolResultBlock;
}

/** Text as it is, blocks as they are, anything else as JSON text. */
export function toOutput(value: unknown, name: string): readonly (TextBlock | DataBlock)[] {
  if (typeof value === "string") return [{ type: "text", text: value }];
  if (value === undefined) return [{ type: "text", text: "(no output)" }];
  const json = toJsonValue(value, `the output of ${name}`);
  if (Array.isArray(json) && json.length > 0 && outputProblem(json) === null)
    return json as unknown as readonly (TextBlock | DataBlock)[];
  return [{ type: "text", text: JSON.stringify(json) }];
}

function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message === "" ? error.name : error.message;
  try {
    return String(error);
  } catch {
    return "it threw something that has no text";
  }
}
