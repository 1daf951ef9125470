import { chooseStore } from "../store/choose-store.js";
import { clip, printTable } from "../terminal/format.js";
import { safeLine } from "../terminal/safe-text.js";
import type { Terminal } from "../terminal/terminal.js";
import { withMessageCounts } from "./message-counts.js";
import { type OwnerFlags, userOf } from "./session-options.js";

/** Options of `sessions list`. */
export interface ListFlags extends OwnerFlags {
  /** Lists only sessions whose tool calls wait for an answer. */
  readonly waiting?: boolean | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** Characters of a title in a list. */
export const TITLE_CHARS = 50;

/** Prints one page of sessions. */
export async function listSessions(terminal: Terminal, flags: ListFlags): Promise<void> {
  await using store = await chooseStore(terminal, flags);
  const { limit, cursor, waiting, agent: agentId } = flags;
  const { stateStore } = store.parts;
  const listed = await stateStore.list({ agentId, userId: userOf(flags), waiting, limit, cursor });
  const page = { ...listed, slots: await withMessageCounts(stateStore, listed.slots) };
  if (terminal.isJson) {
    terminal.json({
      store: store.url,
      sessions: page.slots.map(({ slot, updatedAt, messages, info }) => ({
        ...slot,
        updatedAt,
        messages,
        title: info?.title ?? null,
        waiting: info?.waiting === true,
      })),
      cursor: page.cursor,
    });
    return;
  }
  if (page.slots.length === 0 && page.cursor === undefined) {
    const none = waiting ? "No sessions wait" : "No sessions";
    terminal.line(safeLine(`${none} in ${store.url}.`));
    return;
  }
  printTable(
    terminal,
    ["SESSION", "USER", "AGENT", "MESSAGES", "SAVED", "TITLE", ""],
    page.slots.map(({ slot, updatedAt, messages, info }) => [
      slot.sessionId,
      slot.userId ?? "(anonymous)",
      slot.agentId,
      messages === undefined ? "" : String(messages),
      updatedAt,
      clip(safeLine(info?.title ?? ""), TITLE_CHARS),
      info?.waiting === true ? "waits for an answer" : "",
    ]),
  );
  if (page.cursor !== undefined)
    terminal.line(terminal.colors.dim(`There are more: --cursor ${page.cursor}`));
}
