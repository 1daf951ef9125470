import type { ClientCapabilities, ContentBlock, SessionUpdate } from "@agentclientprotocol/sdk";
import type { HistoryPage, JsonObject, Message } from "@holdfast/core";
import { isRecord } from "@holdfast/core/plugin-kit";
import { fileContent, outputContent } from "./content.js";
import type { ToolView } from "./tool-view.js";

/** Record of a conversation. */
export type HistoryRecord = HistoryPage["records"][number];

/** Name under which a message keeps what the editor had attached to it; see {@link Attachments}. */
export const ATTACHMENTS = "acp.attachments";

/** Files whose text is in a message, by the position of the block: replayed as links, not as the whole text. */
export type Attachments = Readonly<
  Record<string, { readonly uri: string; readonly name: string; readonly mimeType?: string }>
>;

/** Turns the records of a log into the session updates that an editor replays. */
export class HistoryUpdates {
  readonly #view: ToolView;
  readonly #session: NonNullable<ClientCapabilities["session"]>;
  /** Calls that show a change, which their results do not replace. */
  readonly #showing = new Set<string>();

  constructor(view: ToolView, session: ClientCapabilities["session"]) {
    this.#view = view;
    this.#session = session ?? {};
  }

  /** Returns the updates of a record; none for one that does not count. */
  record({ discarded, message, mark, id }: HistoryRecord): readonly SessionUpdate[] {
    if (discarded) return [];
    if (message) return this.message(message);
    if (mark?.name === "confirm") return this.#edited(mark.details ?? {});
    return mark?.name === "compaction" && this.#session.compaction
      ? [{ sessionUpdate: "compaction_update", compactionId: id, status: "completed" }]
      : [];
  }

  /** Returns the updates of a message. */
  message(message: Message): readonly SessionUpdate[] {
    switch (message.role) {
      case "user":
        return userContent(message).map((content) => ({
          ...{ sessionUpdate: "user_message_chunk", content, messageId: message.id },
        }));
      case "assistant":
        return this.#reply(message);
      case "tool":
        return this.#results(message);
      default:
        return [];
    }
  }

  #reply({ id: messageId, content }: Message): readonly SessionUpdate[] {
    return content.flatMap((block): SessionUpdate[] => {
      switch (block.type) {
        case "text":
        case "thinking": {
          if (block.text === "") return [];
          const chunk = { content: { type: "text", text: block.text }, messageId } as const;
          const isText = block.type === "text";
          return [
            isText
              ? { sessionUpdate: "agent_message_chunk", ...chunk }
              : { sessionUpdate: "agent_thought_chunk", ...chunk },
          ];
        }
        case "data":
          return [{ sessionUpdate: "agent_message_chunk", content: fileContent(block), messageId }];
        case "tool_call": {
          const known = this.#view.describe(block.name, block.input);
          const { id: toolCallId, name } = block;
          if (known.content.length > 0) this.#showing.add(toolCallId);
          return [{ sessionUpdate: "tool_call", toolCallId, name, status: "pending", ...known }];
        }
        default:
          return [];
      }
    });
  }

  #results({ content }: Message): readonly SessionUpdate[] {
    return content.flatMap((block): SessionUpdate[] => {
      if (block.type !== "tool_result") return [];
      const isSuccess = block.state === "success";
      const keepsContent = isSuccess && this.#showing.has(block.toolCallId);
      return [
        {
          sessionUpdate: "tool_call_update",
          toolCallId: block.toolCallId,
          status: isSuccess ? "completed" : "failed",
          ...(!keepsContent && { content: outputContent(block.output) }),
        },
      ];
    });
  }

  /** Shows the inputs that a person has put in place of the model's. */
  #edited({ edited }: JsonObject): readonly SessionUpdate[] {
    return Object.entries(isRecord(edited) ? edited : {}).map(([toolCallId, rawInput]) => ({
      ...{ sessionUpdate: "tool_call_update", toolCallId, rawInput },
    }));
  }
}

/** Returns what a person has said, without what the system added. */
function userContent({ content, metadata }: Message): ContentBlock[] {
  const found: unknown = metadata?.[ATTACHMENTS];
  const attachments = (isRecord(found) ? found : {}) as Attachments;
  return content.flatMap((block, index): ContentBlock[] => {
    const attachment = attachments[String(index)];
    if (attachment) return [{ type: "resource_link", ...attachment }];
    if (block.type === "text") return [{ type: "text", text: block.text }];
    return block.type === "data" ? [fileContent(block)] : [];
  });
}
