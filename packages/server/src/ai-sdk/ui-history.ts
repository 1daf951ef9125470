import type { LogRecord, Message, PendingCall } from "@holdfast/core";
import type { HistoryRecord } from "../run/session-records.js";
import { urlOf } from "../run/tool-output.js";
import type { AiSdkVersion } from "./ui-chunk.js";
import type { UiMessage, UiPart } from "./ui-message.js";
import { UiTurn } from "./ui-turn.js";

/** Settings of {@link uiHistory}. */
export interface UiHistoryOptions {
  readonly version: AiSdkVersion;
  /** Tool calls of the session that wait for an answer. */
  readonly pending: readonly PendingCall[];
  /** Tokens that the model reads at once. @default not known */
  readonly contextWindow?: number | undefined;
}

/**
 * Returns the messages of a conversation out of the records of its log, oldest first. Turns that were compacted away are
 * among them, with `compacted` in their metadata.
 */
export function uiHistory(
  records: readonly HistoryRecord[],
  options: UiHistoryOptions,
): readonly UiMessage[] {
  const messages: UiMessage[] = [];
  let turn = new UiTurn(options.version, options.contextWindow);
  const mark = (message: UiMessage, isInContext: boolean): UiMessage =>
    isInContext ? message : { ...message, metadata: { ...message.metadata, compacted: true } };
  const endTurn = (pending: readonly PendingCall[]) => {
    if (turn.hasBegun) messages.push(mark(turn.message(pending), turn.isInContext));
  };
  for (const record of records) {
    const said = record.kind === "message" && record.message ? wordsOf(record.message) : null;
    if (!said || isWithinTurn(record, turn)) {
      if (record.message?.role !== "user" || said) turn.add(record);
      continue;
    }
    endTurn([]);
    turn = new UiTurn(options.version, options.contextWindow);
    messages.push(mark(said, record.inContext));
  }
  endTurn(options.pending);
  return messages;
}

/** Tells whether words of a user came in while the turn's call was running. */
function isWithinTurn({ callId, id }: LogRecord, turn: UiTurn): boolean {
  return turn.lastCallId === callId && !id.includes(".input.");
}

/** Returns a message of the user; null for one that no person wrote. */
export function wordsOf({ id, role, content, createdAt }: Message): UiMessage | null {
  if (role !== "user") return null;
  const parts = content.flatMap((block): UiPart[] => {
    if (block.type === "text") return [{ type: "text", text: block.text }];
    if (block.type !== "data") return [];
    const { mediaType, name } = block;
    const url = urlOf(block);
    return [{ type: "file", mediaType, url, ...(name !== undefined && { filename: name }) }];
  });
  return parts.length === 0 ? null : { id, role, metadata: { createdAt }, parts };
}
