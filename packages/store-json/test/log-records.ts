import { join } from "node:path";
import type { ConversationLog, LogRecord, Slot } from "@holdfast/core";
import { userMessage } from "@holdfast/core";
import type { LogDraft } from "@holdfast/core/store-kit";

/** The session most log tests use. */
export const loggedSlot: Slot = { agentId: "agent", userId: "user", sessionId: "session" };

/** A record of a message with this id and text. */
export function record(id: string, text: string = id): LogDraft {
  return {
    v: 1,
    id,
    callId: "call",
    at: "2026-01-01T00:00:00.000Z",
    kind: "message",
    message: { ...userMessage(text), id, createdAt: "2026-01-01T00:00:00.000Z" },
  };
}

/** Records `<prefix>1` to `<prefix><count>`. */
export function records(prefix: string, count: number, text = ""): LogDraft[] {
  return Array.from({ length: count }, (_, index) => {
    const id = `${prefix}${index + 1}`;
    return record(id, `${id} ${text}`);
  });
}

/** Where the log of {@link loggedSlot} is. */
export function logFile(root: string): string {
  return join(root, "users", "user", "agents", "agent", "sessions", "session.log.jsonl");
}

export function idsOf(list: readonly { readonly id: string }[]): string[] {
  return list.map(({ id }) => id);
}

/** All records, read page by page from the newest to the oldest. */
export async function pagedBack(
  log: ConversationLog,
  slot: Slot,
  limit: number,
): Promise<LogRecord[]> {
  const all: LogRecord[] = [];
  for (let page = await log.read(slot, { limit }); page.length > 0; ) {
    all.unshift(...page);
    page = await log.read(slot, { limit, before: page[0]?.seq });
  }
  return all;
}

/** All records, read page by page from the oldest to the newest. */
export async function pagedOn(
  log: ConversationLog,
  slot: Slot,
  limit: number,
): Promise<LogRecord[]> {
  const all: LogRecord[] = [];
  for (let page = await log.read(slot, { limit, after: 0 }); page.length > 0; ) {
    all.push(...page);
    page = await log.read(slot, { limit, after: page.at(-1)?.seq });
  }
  return all;
}
