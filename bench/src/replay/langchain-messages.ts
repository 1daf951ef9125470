import {
  assistantMessage,
  type Block,
  type JsonObject,
  type JsonValue,
  type Message,
  toolResultMessage,
  userMessage,
} from "@holdfast/core";
import {
  AIMessage,
  type BaseMessage,
  type MessageContent,
  SystemMessage,
  ToolMessage,
} from "@langchain/core/messages";

/** Returns what LangChain sends to a model, in the form in which all requests are checked and counted. */
export function fromLangchain(messages: readonly BaseMessage[]): {
  system: string;
  messages: Message[];
} {
  const system = messages.filter((message) => SystemMessage.isInstance(message));
  return {
    system: system.map((message) => textOf(message.content)).join("\n"),
    messages: messages.filter((message) => !SystemMessage.isInstance(message)).map(converted),
  };
}

/** The same messages come in every request; while it trims them, LangChain changes their content in place. */
const conversions = new WeakMap<BaseMessage, { of: MessageContent; message: Message }>();

function converted(message: BaseMessage): Message {
  const known = conversions.get(message);
  if (known && known.of === message.content) return known.message;
  const made = convert(message);
  conversions.set(message, { of: message.content, message: made });
  return made;
}

/** Its tool schema in the form it has on the wire. */
export interface OpenAiTool {
  readonly function: {
    readonly name: string;
    readonly description?: string | undefined;
    readonly parameters: JsonObject;
  };
}

function convert(message: BaseMessage): Message {
  const text = textOf(message.content);
  if (ToolMessage.isInstance(message))
    return toolResultMessage({
      type: "tool_result",
      toolCallId: message.tool_call_id,
      name: message.name ?? "",
      output: [{ type: "text", text }],
      state: message.status === "error" ? "error" : "success",
    });
  if (!AIMessage.isInstance(message)) return userMessage(text);
  const calls = (message.tool_calls ?? []).map(
    ({ id, name, args }): Block => ({
      type: "tool_call",
      id: id ?? "",
      name,
      input: args as JsonValue,
    }),
  );
  return assistantMessage([...(text === "" ? [] : [{ type: "text" as const, text }]), ...calls]);
}

function textOf(content: MessageContent): string {
  if (typeof content === "string") return content;
  return content.map((part) => (typeof part["text"] === "string" ? part["text"] : "")).join("");
}
