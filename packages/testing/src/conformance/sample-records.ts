import { type LogMark, type Message, userMessage } from "@holdfast/core";
import { type LogDraft, uuidv7 } from "@holdfast/core/store-kit";

/** A log record of a user message with this text, or of the message given. */
export function messageRecord(content: string | Message, fields: Partial<LogDraft> = {}): LogDraft {
  return {
    v: 1,
    id: uuidv7(),
    callId: "call",
    at: new Date().toISOString(),
    kind: "message",
    message: typeof content === "string" ? userMessage(content) : content,
    ...fields,
  };
}

/** A log record of a mark, by default that of a committed call. */
export function markRecord(
  mark: LogMark = { name: "call_end", outcome: "committed" },
  fields: Partial<LogDraft> = {},
): LogDraft {
  return {
    v: 1,
    id: uuidv7(),
    callId: "call",
    at: new Date().toISOString(),
    kind: "mark",
    mark,
    ...fields,
  };
}
