import {
  type Message,
  type Tool,
  type ToolCallBlock,
  type ToolCallStep,
  type ToolResultBlock,
  tool,
} from "@holdfast/core";
import type { IncomingStep } from "@holdfast/core/plugin-kit";
import { uuidv7 } from "@holdfast/core/store-kit";
import { anyInput } from "../any-input.js";
import type { FakePluginHost } from "./fake-plugin-host.js";

type Host = Pick<FakePluginHost, "step" | "tools">;

/** Returns the step with which an agent would hand a message to `onIncoming`; `fields` override. */
export function incomingStep(
  host: Host,
  message: Message,
  fields: Partial<IncomingStep>,
): IncomingStep {
  const { slot, ctx, signal, emit } = host.step(fields.slot && { slot: fields.slot });
  const [block] = message.content;
  const about = block?.type === "tool_result" ? toolCall(host, block) : {};
  const origin = message.role === "tool" ? "tool_result" : "input";
  return { slot, ctx, signal, emit, callId: ctx.callId ?? uuidv7(), origin, ...about, ...fields };
}

/** Returns the step with which an agent would hand a result to `onToolResult`; `fields` override. */
export function toolCallStep(
  host: Host,
  result: ToolResultBlock,
  fields: Partial<ToolCallStep>,
): ToolCallStep {
  const { call, tool: given, ...rest } = fields;
  const made = toolCall(host, result);
  return { ...host.step(rest), call: call ?? made.call, tool: given ?? made.tool };
}

/** Returns a successful result with this text. */
export function textResult(text: string, call?: ToolCallBlock): ToolResultBlock {
  const { id, name } = call ?? { id: "call", name: "tool" };
  const output = [{ type: "text", text }] as const;
  return { type: "tool_result", toolCallId: id, name, output, state: "success" };
}

function toolCall(
  { tools }: Host,
  { toolCallId, name }: ToolResultBlock,
): { readonly call: ToolCallBlock; readonly tool: Tool } {
  return {
    call: { type: "tool_call", id: toolCallId, name, input: {} },
    tool:
      tools.find((one) => one.name === name) ??
      tool({ name, description: `Stands for ${name}.`, input: anyInput, execute: () => "" }),
  };
}
