import type { EventBody } from "../events/agent-event.js";
import { checkEvent } from "../events/check-event.js";
import { toolResultMessage } from "../message/create-message.js";
import type { Message, ToolCallBlock, ToolResultBlock } from "../message/message.js";
import type { IncomingStep } from "../middleware/middleware.js";
import type { Tool } from "../tool/tool.js";
import type { AgentParts } from "./assemble/agent-parts.js";
import { type CallScope, stepOf } from "./call-scope.js";

/** The parts of an agent that receiving needs. */
export type Receiver = Pick<AgentParts, "hooks" | "now">;

/** Returns the `emit` of a step before its call has a session, which checks events as that of every step does. */
export function incomingEmit(
  { settings }: AgentParts,
  emit: (event: EventBody) => void,
): IncomingStep["emit"] {
  return (event) => emit(checkEvent(event, `a hook of agent "${settings.name}"`));
}

/** Runs a message from outside through the `onIncoming` hooks. */
export async function receive(
  { hooks }: Receiver,
  message: Message,
  step: IncomingStep,
): Promise<Message> {
  if (hooks.onIncoming.length === 0) return message;
  const emit = (event: EventBody) => step.emit(checkEvent(event, "an onIncoming hook"));
  let received = message;
  for (const hook of hooks.onIncoming) received = await hook(received, { ...step, emit });
  return received;
}

/** Runs a tool result through the `onIncoming` hooks, as a message with nothing else in it. */
export async function receiveBlock(
  parts: Receiver,
  block: ToolResultBlock,
  step: IncomingStep,
): Promise<ToolResultBlock> {
  if (parts.hooks.onIncoming.length === 0) return block;
  const message = toolResultMessage(block, { createdAt: parts.now() });
  const received = await receive(parts, message, step);
  return received === message ? block : (received.content[0] as ToolResultBlock);
}

/** Runs the result of a tool that a running call has run through the `onIncoming` hooks. */
export function receiveResult(
  scope: CallScope,
  result: ToolResultBlock,
  about: { readonly call: ToolCallBlock; readonly tool: Tool },
): Promise<ToolResultBlock> {
  const { parts, slot, ctx, callId } = scope;
  const { signal, emit } = stepOf(scope);
  const step = { slot, ctx, callId, signal, emit, origin: "tool_result", ...about } as const;
  return receiveBlock(parts, result, step);
}
