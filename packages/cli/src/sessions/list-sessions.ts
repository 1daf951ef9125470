import { chooseStore } from "../store/choose-store.js";
import { printTable } from "../terminal/format.js";
import { safeLine } from "../terminal/safe-text.js";
import type { Terminal } from "../terminal/terminal.js";
import { withMessageCounts } from "./message-counts.js";
import { type OwnerFlags, userOf } from "./session-options.js";

/** Options of `sessions list`. */
export interface ListFlags extends OwnerFlags {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** Prints one page of sessions. */
export async function listSessions(terminal: Terminal, flags: ListFlags): Promise<void> {
  await using store = await chooseStore(terminal, flags);
  const { limit, cursor, agent: agentId } = flags;
  const { stateStore } = store.parts;
  const listed = await stateStore.list({ agentId, userId: userOf(flags), limit, cursor });
  const page = { ...listed, slots: await withMessageCounts(stateStore, listed.slots) };
  if (terminal.isJson) {
    terminal.json({
      store: store.url,
      sessions: page.slots.map(({ slot, updatedAt, messages }) => ({
        ...slot,
        updatedAt,
        messages,
      })),
      cursor: page.cursor,
    });
    return;
  }
  if (page.slots.length === 0 && page.cursor === undefined) {
    terminal.line(safeLine(`No sessions in ${store.url}.`));
    return;
  }
  printTable(
    terminal,
    ["SESSION", "USER", "AGENT", "MESSAGES", "SAVED"],
    page.slots.map(({ slot, updatedAt, messages }) => [
      slot.sessionId,
      slot.userId ?? "(anonymous)",
      slot.agentId,
      messages === undefined ? "" : String(messages),
      updatedAt,
    ]),
  );
  if (page.cursor !== undefined)
    terminal.line(terminal.colors.dim(`There are more: --cursor ${page.cursor}`));
}
