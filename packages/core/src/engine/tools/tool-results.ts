import { messageOf } from "../../errors/message-of.js";
import type { EventBody } from "../../events/agent-event.js";
import { type JsonValue, toJsonValue } from "../../json/json.js";
import { readableJson } from "../../json/readable-json.js";
import { createMessage, toolResultMessage } from "../../message/create-message.js";
import type {
  DataBlock,
  TextBlock,
  ToolCallBlock,
  ToolResultBlock,
  ToolResultState,
} from "../../message/message.js";
import { outputProblem } from "../../message/message-problem.js";
import { contentChars } from "../../message/read-message.js";
import { cutIndex } from "../../plugin-kit/cut-text.js";
import { isExplicitToolResult } from "../../tool/tool.js";
import type { CallScope } from "../call-scope.js";
import { fitResults, inWords } from "./fit-results.js";

/** Most characters of an output in an event, texts and data together. */
const MAX_OUTPUT_CHARS = 65_536;

/** Fields of the event `tool_result` about the output. */
type ShownOutput = Pick<Extract<EventBody, { type: "tool_result" }>, "output" | "truncated">;

/** Returns a result that is one text. */
export function textResult(
  call: ToolCallBlock,
  text: string,
  state: ToolResultState,
): ToolResultBlock {
  return {
    type: "tool_result",
    toolCallId: call.id,
    name: call.name,
    output: [{ type: "text", text }],
    state,
  };
}

/** Turns what a tool returned into a result that a message can hold. What it did is done, whatever it returned. */
export function toResult(call: ToolCallBlock, value: unknown): ToolResultBlock {
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

/** Error that a tool threw, for events only: the model and the conversation get no stack. */
export type ToolFailure = NonNullable<Extract<EventBody, { type: "tool_result" }>["error"]>;

/** Describes what a tool threw. */
export function failureOf(error: unknown): ToolFailure {
  const message = messageOf(error);
  try {
    if (!(error instanceof Error)) return { name: typeof error, message };
    const stack = stackOf(error);
    return { name: String(error.name), message, ...(stack !== "" && { stack }) };
  } catch {
    // A field of the error throws when it is read.
    return { name: "unknown", message };
  }
}

/** Most errors behind an error whose stacks are told. */
const MAX_CAUSES = 5;

/** Returns an error's stack and those of the errors that caused it: `fetch failed` alone tells nobody why. */
function stackOf(error: Error): string {
  const stacks = [error.stack ?? ""];
  const behind = causesOf(error);
  for (let told = 0; behind.length > 0 && told < MAX_CAUSES; told++) {
    const cause = behind.shift() as Error;
    stacks.push(`[cause]: ${cause.stack ?? cause.message}`);
    behind.push(...causesOf(cause));
  }
  return stacks.join("\n");
}

function causesOf(error: Error): Error[] {
  const several: readonly unknown[] = error instanceof AggregateError ? error.errors : [];
  return [error.cause, ...several].filter((cause) => cause instanceof Error);
}

/**
 * Returns what events may say of a failure: what `onIncoming` hooks changed in the result that tells of it, they changed for
 * events as well, and a stack would repeat it.
 */
export function failureAs(
  { output }: ToolResultBlock,
  told: ToolResultBlock,
  failure: ToolFailure,
): ToolFailure {
  if (JSON.stringify(output) === JSON.stringify(told.output)) return failure;
  const words = output.map((block) => (block.type === "text" ? block.text : ""));
  return { name: failure.name, message: words.join("") };
}

/** Emits a result's event; `durationMs` is 0 for a call that did not run here. */
export function emitResult(
  scope: Pick<CallScope, "emit">,
  { toolCallId, name, state, output }: ToolResultBlock,
  durationMs = 0,
  error?: ToolFailure,
): void {
  scope.emit({
    ...{ type: "tool_result", toolCallId, name, state, durationMs },
    ...shownOutput(output),
    ...(error && { error }),
  });
}

/**
 * Adds one message with `results` to the context, and their calls are open no more.
 *
 * @param originals - the same results as the tools gave them, which the log keeps
 * @param messageId - id of the message. @default a new one
 */
export function addResults(
  { parts, session }: CallScope,
  results: readonly ToolResultBlock[],
  originals: readonly ToolResultBlock[] = results,
  messageId?: string,
): void {
  if (results.length === 0) return;
  const original = createMessage("tool", originals, { id: messageId, createdAt: parts.now() });
  const { id, createdAt } = original;
  const isChanged = results.some((result, index) => result !== originals[index]);
  const message = isChanged ? createMessage("tool", results, { id, createdAt }) : original;
  session.say(fitResults(message, parts.settings.limits.messageBytes), original);
  for (const { toolCallId } of results) delete session.state.openCalls[toolCallId];
}

/** Returns an output as its event shows it: texts are cut at the limit, and a note stands for data beyond it. */
function shownOutput(output: readonly (TextBlock | DataBlock)[]): ShownOutput {
  const shown: (TextBlock | DataBlock)[] = [];
  let left = MAX_OUTPUT_CHARS;
  let chars = 0;
  for (const block of output) {
    const size = contentChars(block);
    if (size <= left) {
      shown.push(block);
      left -= size;
      continue;
    }
    const end = block.type === "text" ? cutIndex(block.text, left) : 0;
    chars += size - end;
    if (block.type === "data") shown.push({ type: "text", text: inWords(block) });
    else {
      if (end > 0) shown.push({ type: "text", text: block.text.slice(0, end) });
      left = 0;
    }
  }
  return { output: shown, ...(chars > 0 && { truncated: { chars } }) };
}
