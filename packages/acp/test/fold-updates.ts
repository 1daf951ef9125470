import type { SessionUpdate } from "@agentclientprotocol/sdk";
import { DISCARDED } from "../src/updates/update-encoder.js";

/** A conversation as an editor has it in the end. */
export interface Folded {
  /** What the agent said, by message: text, and files as their types. */
  readonly texts: Readonly<Record<string, string>>;
  readonly tools: Readonly<
    Record<
      string,
      { readonly name?: unknown; readonly status?: unknown; readonly content?: unknown }
    >
  >;
}

/** Folds updates as an editor does, and drops what they take back. */
export function foldUpdates(updates: readonly SessionUpdate[]): Folded {
  const texts = new Map<string, string>();
  const tools = new Map<string, Record<string, unknown>>();
  for (const update of updates) {
    const isDiscarded = update._meta?.[DISCARDED] === true;
    switch (update.sessionUpdate) {
      case "agent_message_chunk": {
        const { content, messageId = "" } = update;
        const text = content.type === "text" ? content.text : `[${content.type}]`;
        if (isDiscarded) texts.delete(messageId ?? "");
        else texts.set(messageId ?? "", (texts.get(messageId ?? "") ?? "") + text);
        break;
      }
      case "tool_call":
      case "tool_call_update": {
        const { toolCallId, name, status, content } = update;
        const known = tools.get(toolCallId) ?? {};
        const patch = Object.entries({ name, status, content }).filter(
          ([, value]) => value != null,
        );
        if (isDiscarded) tools.delete(toolCallId);
        else tools.set(toolCallId, { ...known, ...Object.fromEntries(patch) });
      }
    }
  }
  return { texts: Object.fromEntries(texts), tools: Object.fromEntries(tools) };
}
