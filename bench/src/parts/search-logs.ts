import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout } from "node:timers/promises";
import { type ConversationLog, userMessage } from "@holdfast/core";
import type { LogDraft } from "@holdfast/core/store-kit";
import { JsonlConversationLog } from "@holdfast/store-json";
import { median } from "../measure/statistics.js";
import { type Conversation, readConversations } from "../replay/conversation.js";
import { sampleDrafts } from "../stores/sample-turn.js";

/** Searches the logs of the user for a text, in whatever way; resolves to the milliseconds it took. */
export type LogSearch = (text: string) => Promise<number>;

/** Whose logs are searched. */
export const searchedUser = { agentId: "airline", userId: "user" } as const;

const SESSIONS = 20;
const BYTES = 200_000_000;
const ROUNDS = 15;
/** About as long as all searches together: what other programs on the machine do to this one. */
const IDLE_MS = 2_000;
/** Of common letters, so that the bytes alone rule out little. */
const ABSENT = "a train to the station";
const RARE = "the one needle in here";
const FREQUENT = "reservation";
const MIB = 2 ** 20;

/** Figures of one text. */
interface Measured {
  readonly text: string;
  readonly medianMs: number;
  readonly worstMs: number;
  /** The longest that others had to wait. */
  readonly delayMs: number;
  /** Undefined without `rg`. */
  readonly rgMs: number | undefined;
}

/**
 * Prints what a search over 200 MB of logs takes against `rg -F` on the same files, and what it does to others.
 *
 * @param makeSearch - makes the search to measure; without it the log's own
 */
export async function measureLogSearch(
  print: (line: string) => void,
  makeSearch: (log: ConversationLog, user: typeof searchedUser) => LogSearch = ownSearch,
): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), "holdfast-bench-search-"));
  try {
    const log = new JsonlConversationLog({ root, durability: "os" });
    await writeLogs(log);
    const search = makeSearch(log, searchedUser);
    // So that the files are in memory for both.
    ripgrep(ABSENT, root);
    const rssBefore = process.memoryUsage().rss;
    const delays = monitorEventLoopDelay({ resolution: 1 });
    delays.enable();
    await setTimeout(IDLE_MS);
    const idleMs = delays.max / 1e6;
    delays.reset();
    const firstMs = await search(ABSENT);
    const rssFirst = process.memoryUsage().rss;
    const firstDelayMs = await longestDelay(delays);
    const measured: Measured[] = [];
    for (const text of [ABSENT, RARE, FREQUENT])
      measured.push(await measureText(text, search, root, delays));
    delays.disable();
    const rssLast = process.memoryUsage().rss;
    const longestMs = Math.max(firstDelayMs, ...measured.map(({ delayMs }) => delayMs));
    print(`Searching ${BYTES / 1e6} MB of logs in ${SESSIONS} sessions, median of ${ROUNDS}:`);
    for (const each of measured) print(lineOf(each));
    if (measured.every(({ rgMs }) => rgMs === undefined))
      print("rg is not installed: there is nothing to compare with");
    print(`first search: ${firstMs.toFixed(1)} ms`);
    print(
      `longest event loop delay: ${longestMs.toFixed(1)} ms; ${idleMs.toFixed(1)} ms in ${IDLE_MS / 1_000} s without a search`,
    );
    print(
      `memory: ${((rssFirst - rssBefore) / MIB).toFixed(1)} MiB for the first search, ${((rssLast - rssFirst) / MIB).toFixed(1)} MiB for the ${3 * ROUNDS} after it`,
    );
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** Both in turns, so that noise hits both alike. */
async function measureText(
  text: string,
  search: LogSearch,
  directory: string,
  delays: IntervalHistogram,
): Promise<Measured> {
  const [ours, theirs, waits]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < ROUNDS; round++) {
    const rgMs = ripgrep(text, directory);
    if (rgMs !== undefined) theirs.push(rgMs);
    // That blocked everybody, and is none of the search's doing.
    await longestDelay(delays);
    delays.reset();
    ours.push(await search(text));
    waits.push(await longestDelay(delays));
  }
  return {
    text,
    medianMs: median(ours),
    worstMs: Math.max(...ours),
    delayMs: Math.max(...waits),
    rgMs: theirs.length === 0 ? undefined : median(theirs),
  };
}

/** In milliseconds; when the timer of the monitor has run once more. */
async function longestDelay(delays: IntervalHistogram): Promise<number> {
  await setTimeout(5);
  return delays.max / 1e6;
}

function ownSearch(log: ConversationLog, user: typeof searchedUser): LogSearch {
  return (text) => timed(() => log.search({ ...user, text }));
}

function lineOf({ text, medianMs, worstMs, rgMs }: Measured): string {
  const against =
    rgMs === undefined ? "" : `, rg -F ${rgMs.toFixed(1)} ms: ${(medianMs / rgMs).toFixed(2)} x`;
  return `${JSON.stringify(text).padEnd(26)} ${medianMs.toFixed(1)} ms (worst ${worstMs.toFixed(1)})${against}`;
}

/** The recorded conversations again and again, a session after the other; one text stands in the oldest alone. */
async function writeLogs(log: ConversationLog): Promise<void> {
  const conversations = readConversations();
  for (let session = 0; session < SESSIONS; session++) {
    const slot = { ...searchedUser, sessionId: `session-${session}` };
    if (session === 0) await log.append(slot, callOf([RARE]));
    for (let bytes = 0; bytes < BYTES / SESSIONS; ) {
      const drafts = conversations.flatMap(draftsOf);
      await log.append(slot, drafts);
      bytes += Buffer.byteLength(JSON.stringify(drafts));
    }
  }
}

/** A conversation as a call, which tells at its end how it went. */
function draftsOf({ messages }: Conversation): LogDraft[] {
  return callOf(messages.map((message) => JSON.stringify(message)));
}

function callOf(texts: readonly string[]): LogDraft[] {
  return sampleDrafts(texts.map((text) => userMessage(text)));
}

/** Measures how long `rg` takes, from start to end; undefined when there is none. */
function ripgrep(text: string, directory: string): number | undefined {
  const began = performance.now();
  const { error } = spawnSync("rg", ["-F", "--no-ignore", text, directory], {
    stdio: "ignore",
  });
  return error === undefined ? performance.now() - began : undefined;
}

async function timed(run: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await run();
  return performance.now() - began;
}
