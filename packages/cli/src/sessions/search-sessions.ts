import type { ConversationLog } from "@holdfast/core";
import * as s from "@holdfast/core/plugin-kit/schema";
import {
  CallOutcomes,
  isDiscarded,
  type LogHit,
  type LogPosition,
  slotText,
} from "@holdfast/core/store-kit";
import { CommandError, exitCodes } from "../exit-code.js";
import { chooseStore } from "../store/choose-store.js";
import { safeLine } from "../terminal/safe-text.js";
import type { Terminal } from "../terminal/terminal.js";
import { listed, noSession } from "./find-slot.js";
import { type HitPage, highlighted, type RankedHit, rankedHits } from "./ranked-hits.js";
import { type OwnerFlags, userOf } from "./session-options.js";

/** Options of `sessions search`. */
export interface SearchFlags extends OwnerFlags {
  readonly session?: string | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
  /** Finds this very text, newest first, instead of what fits it best. */
  readonly exact?: boolean | undefined;
}

/** Prints the messages that fit a question best, or with `--exact` those that contain a text. */
export async function searchSessions(
  terminal: Terminal,
  text: string,
  flags: SearchFlags,
): Promise<void> {
  if (text === "") throw new CommandError(exitCodes.usage, "the text to search for is empty");
  const cursor = flags.cursor === undefined ? null : decodeCursor(flags.cursor);
  const rank = cursor?.rank;
  if (cursor !== null && (rank === undefined) !== (flags.exact === true))
    throw new CommandError(exitCodes.usage, "--cursor: of a search with another --exact");
  await using store = await chooseStore(terminal, flags);
  const { log, stateStore } = store.parts;
  const owners = await ownersOf(store.parts, flags);
  if (owners.length === 0 && flags.session !== undefined) throw noSession(flags.session);
  if (flags.exact !== true) {
    const page = await rankedHits(store.parts, owners, text, { from: rank, limit: flags.limit });
    printRanked(terminal, page, store.url);
    return;
  }
  const { hits, next } = await searchAll(log, text, owners, flags.limit, cursor);
  const outcomes = new CallOutcomes(log, { stateStore });
  const found: object[] = [];
  for (const { slot, record, snippet } of hits) {
    const discarded = isDiscarded(await outcomes.of(slot, record));
    if (terminal.isJson) {
      const { seq, at, message } = record;
      found.push({ ...slot, seq, at, role: message?.role, discarded, snippet });
      continue;
    }
    terminal.line(hitHead(terminal, { slot, record, discarded }));
    terminal.line(`  ${safeLine(snippet)}`);
  }
  const more = next && encodeCursor(next);
  if (terminal.isJson) terminal.json({ store: store.url, hits: found, cursor: more ?? undefined });
  else if (more) terminal.line(terminal.colors.dim(`There may be more: --cursor ${more}`));
  else if (hits.length === 0) terminal.line(safeLine(`Not found in ${store.url}.`));
}

function printRanked(terminal: Terminal, { hits, next }: HitPage, url: string): void {
  const cursor = next === undefined ? undefined : encodeCursor({ owner: "", rank: next });
  if (terminal.isJson) {
    const found = hits.map(({ slot, record, discarded, snippet, score }) => {
      const { seq, at, message } = record;
      return { ...slot, seq, at, role: message?.role, discarded, snippet, score };
    });
    terminal.json({ store: url, hits: found, cursor });
    return;
  }
  for (const hit of hits) {
    terminal.line(hitHead(terminal, hit));
    terminal.line(`  ${highlighted(hit, terminal.colors)}`);
  }
  if (cursor !== undefined)
    terminal.line(terminal.colors.dim(`There may be more: --cursor ${cursor}`));
  else if (hits.length === 0)
    terminal.line(safeLine(`Not found in ${url}. --exact finds parts of words.`));
}

/** Returns the line above a hit: its session, owner, position, time and role. */
export function hitHead(
  terminal: Terminal,
  { slot, record, discarded }: Pick<RankedHit, "slot" | "record" | "discarded">,
): string {
  const { bold, dim, yellow } = terminal.colors;
  const { seq, at, message } = record;
  const who = `${slot.userId ?? "(anonymous)"}, ${slot.agentId}`;
  const mark = discarded ? ` ${yellow("[discarded]")}` : "";
  return `${bold(safeLine(slot.sessionId))} ${dim(`${safeLine(who)} #${seq} ${safeLine(at)}`)} ${safeLine(message?.role ?? "mark")}${mark}`;
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
  /** Rank from which a search by relevance continues. */
  readonly rank?: number | undefined;
  readonly before?: LogPosition | undefined;
}

const cursorSchema: s.Schema<SearchCursor> = s.strictObject({
  owner: s.string(),
  rank: s.int().min(0).optional(),
  before: s.strictObject({ sessionId: s.string(), seq: s.number() }).optional(),
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
