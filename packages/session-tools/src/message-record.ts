import type { LogRecord, Message } from "@holdfast/core";

/** A record that holds a message. */
export type MessageRecord = LogRecord & { readonly message: Message };

/** Whether a record holds a message. */
export function isMessage(record: LogRecord): record is MessageRecord {
  return record.kind === "message" && record.message !== undefined;
}
