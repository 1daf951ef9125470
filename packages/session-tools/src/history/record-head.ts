import type { LogRecord } from "@holdfast/core";
import { cutText } from "@holdfast/core/plugin-kit";
import type { MessageRecord } from "../log-records.js";

/** Most characters of a name that are shown. */
const NAME_CHARS = 64;
/** Most characters of a mark's details that are shown. */
const DETAIL_CHARS = 200;

/** Returns position, author and time of a message: `[5100] user, 2026-05-01T10:00:00.000Z`. */
export function messageHead(record: MessageRecord, remark: string): string {
  return `[${record.seq}] ${messageOrigin(record, remark)}`;
}

/** Returns author and time of a message. */
export function messageOrigin({ at, message }: MessageRecord, remark: string): string {
  const { role, name } = message;
  // The log does not validate messages.
  const said = typeof name === "string" ? ` ${JSON.stringify(cutText(name, NAME_CHARS))}` : "";
  return `${cutText(String(role), NAME_CHARS)}${said}, ${at}${remark}`;
}

/** Describes a mark in one line; null for marks that only say how a call ended. */
export function markLine({ seq, at, mark }: LogRecord, remark: string): string | null {
  if (mark === undefined || mark.name === "call_end") return null;
  const details =
    mark.details === undefined ? "" : `: ${cutText(JSON.stringify(mark.details), DETAIL_CHARS)}`;
  return `[${seq}] (${cutText(mark.name, NAME_CHARS)}), ${at}${remark}${details}`;
}
