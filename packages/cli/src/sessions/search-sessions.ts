import type { ConversationLog } from "@holdfast/core";
import {
  CallOutcomes,
  isDiscarded,
  type LogHit,
  type LogPosition,
  slotText,
} from "@holdfast/core/store-kit";
import * as z from "zod";
import { CommandError, exitCodes } from "../exit-code.js";
import { chooseStore } from "../store/choose-store.js";
import { safeLine } from "../terminal/safe-text.js";
import type { Terminal } from "../terminal/terminal.js";
import { listed, noSession } from "./find-slot.js";
import { type OwnerFlags, userOf } from "./session-options.js";

/** Options of `sessions search`. */
export interface SearchFlags extends OwnerFlags {
  readonly session?: string | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** Prints the messages that contain a text. One search of a log covers one owner, so owners are searched in turn. */
export async function searchSessions(
  terminal: Terminal,
  text: string,
  flags: SearchFlags,
): Promise<void> {
  if (text === "") throw new CommandError(exitCodes.usage, "the text to search for is empty");
  const cursor = flags.cursor === undefined ? null : decodeCursor(flags.cursor);
  await using store = await chooseStore(terminal, flags);
  const { log, stateStore } = store.parts;
  const owners = await ownersOf(store.parts, flags);
  if (owners.length === 0 && flags.session !== undefined) throw noSession(flags.session);
  const { hits, next } = await searchAll(log, text, owners, flags.limit, cursor);
  const outcomes = new CallOutcomes(log, { stateStore });
  const found: object[] = [];
  for (const { slot, record, snippet } of hits) {
    const discarded = isDiscarded(await outcomes.of(slot, record));
    const { seq, at, message } = record;
    if (terminal.isJson) {
      found.push({ ...slot, seq, at, role: message?.role, discarded, snippet });
      continue;
    }
    const { bold, dim, yellow } = terminal.colors;
    const who = `${slot.userId ?? "(anonymous)"}, ${slot.agentId}`;
    terminal.line(
      `${bold(safeLine(slot.sessionId))} ${dim(`${safeLine(who)} #${seq} ${safeLine(at)}`)} ${safeLine(message?.role ?? "mark")}${discarded ? ` ${yellow("[discarded]")}` : ""}`,
    );
    terminal.line(`  ${safeLine(snippet)}`);
  }
  const more = next && encodeCursor(next);
  if (terminal.isJson) terminal.json({ store: store.url, hits: found, cursor: more ?? undefined });
  else if (more) terminal.line(terminal.colors.dim(`There may be more: --cursor ${more}`));
  else if (hits.length === 0) terminal.line(safeLine(`Not found in ${store.url}.`));
}

/** Log to search: all sessions of a user, or one anonymous session. */
interface Owner {
  readonly key: string;
  readonly agentId: string;
  readonly userId: string | null;
  readonly sessionId?: string | undefined;
}

async function ownersOf(
  parts: Parameters<typeof listed>[0],
  flags: SearchFlags,
): Promise<readonly Owner[]> {
  const { agent: agentId, session: sessionId } = flags;
  const userId = userOf(flags);
  if (agentId !== undefined && typeof userId === "string")
    return [{ key: "", agentId, userId, sessionId }];
  const owners = new Map<string, Owner>();
  for await (const { slot } of listed(parts, flags)) {
    if (sessionId !== undefined && slot.sessionId !== sessionId) continue;
    const isWhole = slot.userId !== null && sessionId === undefined;
    const key = slotText(isWhole ? { ...slot, sessionId: "" } : slot);
    owners.set(key, { key, ...slot, sessionId: isWhole ? undefined : slot.sessionId });
  }
  // A stable order, for the cursor.
  return [...owners.values()].toSorted((one, other) => (one.key < other.key ? -1 : 1));
}

async function searchAll(
  log: ConversationLog,
  text: string,
  owners: readonly Owner[],
  limit: number,
  cursor: SearchCursor | null,
): Promise<{ hits: readonly LogHit[]; next: SearchCursor | null }> {
  const hits: LogHit[] = [];
  for (const { key, ...owner } of owners) {
    if (cursor !== null && key < cursor.owner) continue;
    let before: LogPosition | undefined = key === cursor?.owner ? cursor.before : undefined;
    do {
      if (hits.length >= limit) return { hits, next: { owner: key, before } };
      const finds = await log.search({ ...owner, text, limit: limit - hits.length, before });
      hits.push(...finds.hits);
      before = finds.next;
    } while (before !== undefined);
  }
  return { hits, next: null };
}

/** Position from which a search over several owners continues. */
interface SearchCursor {
  readonly owner: string;
  readonly before?: LogPosition | undefined;
}

const cursorSchema: z.ZodType<SearchCursor> = z.strictObject({
  owner: z.string(),
  before: z.strictObject({ sessionId: z.string(), seq: z.number() }).optional(),
});

/** Encodes a cursor as one word for the command line. */
function encodeCursor(cursor: SearchCursor): string {
  return Buffer.from(JSON.stringify(cursor)).toString("base64url");
}

/** @throws CommandError with exit code 2 */
function decodeCursor(text: string): SearchCursor {
  try {
    return cursorSchema.parse(JSON.parse(Buffer.from(text, "base64url").toString("utf8")));
  } catch (error) {
    throw new CommandError(exitCodes.usage, "--cursor: not a cursor of a search", {
      cause: error,
    });
  }
}
