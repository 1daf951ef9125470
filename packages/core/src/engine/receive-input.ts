import { isRecord, type JsonObject, type JsonValue } from "../json/json.js";
import { assistantMessage } from "../message/create-message.js";
import type { Message, ToolCallBlock, ToolResultBlock } from "../message/message.js";
import { toolCallsOf } from "../message/read-message.js";
import type { IncomingStep } from "../middleware/middleware.js";
import type { AgentParts } from "./assemble/agent-parts.js";
import type { Confirmation, ExternalResult, QuestionAnswer, ReadInput } from "./call-input.js";
import { type Receiver, receive, receiveBlock } from "./receive.js";
import { storedState } from "./session/stored-state.js";
import { openCallsOf } from "./tools/open-calls.js";
import { textResult, toOutput } from "./tools/tool-results.js";

/** Step of a call's input; the rest depends on its kind. */
type InputStep = Omit<IncomingStep, "origin" | "call" | "tool">;

/** Runs a call's input through the `onIncoming` hooks, before anything has stored it. */
export async function receiveInput(
  parts: AgentParts,
  input: ReadInput,
  step: InputStep,
): Promise<ReadInput> {
  switch (input.kind) {
    case "messages": {
      const one = (message: Message) => receive(parts, message, { ...step, origin: "input" });
      return { ...input, messages: await inTurn(input.messages, one) };
    }
    case "results": {
      const about = await openCalls(parts, step);
      const one = (result: ExternalResult) =>
        receiveExternal(parts, result, { ...step, origin: "results", ...about(result.toolCallId) });
      return { ...input, results: await inTurn(input.results, one) };
    }
    case "confirm": {
      const about = await openCalls(parts, step);
      const one = (answer: Confirmation) =>
        receiveAnswer(parts, answer, { ...step, origin: "confirm", ...about(answer.toolCallId) });
      return { ...input, confirm: await inTurn(input.confirm, one) };
    }
    case "answers": {
      const about = await openCalls(parts, step);
      const one = (answer: QuestionAnswer) =>
        receiveContent(parts, answer, { ...step, origin: "answers", ...about(answer.toolCallId) });
      return { ...input, answers: await inTurn(input.answers, one) };
    }
  }
}

/** One after another, in order: a hook may count what it sees. */
async function inTurn<T>(items: readonly T[], change: (item: T) => Promise<T>): Promise<T[]> {
  const changed: T[] = [];
  for (const item of items) changed.push(await change(item));
  return changed;
}

/**
 * Returns what is known about the session's open tool calls. Read without its turn, which the call has not got yet, so that
 * the call of an answer that is early or late is not among them.
 */
async function openCalls(
  parts: AgentParts,
  { slot }: InputStep,
): Promise<(toolCallId: string) => Pick<IncomingStep, "call" | "tool">> {
  const state = await storedState(parts, slot);
  const calls = new Map(state ? openCallsOf(state).map(({ call }) => [call.id, call]) : []);
  return (toolCallId) => {
    const call = calls.get(toolCallId);
    return call ? { call, tool: parts.tools.get(call.name) } : {};
  };
}

async function receiveExternal(
  parts: Receiver,
  { toolCallId, output, state = "success" }: ExternalResult,
  step: IncomingStep,
): Promise<ExternalResult> {
  const name = step.call?.name ?? "";
  const content = toOutput(output, name);
  const block: ToolResultBlock = { type: "tool_result", toolCallId, name, output: content, state };
  const received = await receiveBlock(parts, block, step);
  // No output at all would be read as an empty JSON list.
  const nothing = [{ type: "text", text: "" } as const];
  return {
    toolCallId,
    output: received.output.length > 0 ? received.output : nothing,
    state: received.state,
  };
}

/**
 * An edited input is received as the tool call that will run, the reason of a denial as the result that says it. Fields that
 * an answer makes no use of are left out, since nobody has seen them.
 */
async function receiveAnswer(
  parts: Receiver,
  { toolCallId, approve, input, reason, interrupt, remember }: Confirmation,
  step: IncomingStep,
): Promise<Confirmation> {
  const known = { name: "", input: null, ...step.call };
  const call: ToolCallBlock = { ...known, type: "tool_call", id: toolCallId };
  if (!approve) {
    const denial = { toolCallId, approve, ...(interrupt !== undefined && { interrupt }) };
    if (!reason) return denial;
    const { output } = await receiveBlock(parts, textResult(call, reason, "denied"), step);
    const words = output.map((block) => (block.type === "text" ? block.text : ""));
    return { ...denial, reason: words.join("") };
  }
  const answer = { toolCallId, approve, ...(remember !== undefined && { remember }) };
  if (input === undefined) return answer;
  return { ...answer, input: await receiveCall(parts, { ...call, input }, step) };
}

/** Receives what a person filled in as the input of the tool call that goes on with it. */
async function receiveContent(
  parts: Receiver,
  answer: QuestionAnswer,
  step: IncomingStep,
): Promise<QuestionAnswer> {
  const { toolCallId, content } = answer;
  if (content === undefined) return answer;
  const call = { type: "tool_call", id: toolCallId, name: step.call?.name ?? "" } as const;
  const received = await receiveCall(parts, { ...call, input: content }, step);
  return { ...answer, content: isRecord(received) ? (received as JsonObject) : {} };
}

async function receiveCall(
  parts: Receiver,
  call: ToolCallBlock,
  step: IncomingStep,
): Promise<JsonValue | undefined> {
  const message = assistantMessage([call], { createdAt: parts.now() });
  const [received] = toolCallsOf(await receive(parts, message, step));
  return received?.input;
}
