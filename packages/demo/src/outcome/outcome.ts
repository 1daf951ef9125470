import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import {
  characterEstimate,
  type LogRecord,
  type Message,
  type TokenCounter,
  textOf,
  toolResultsOf,
} from "@holdfast/core";
import { LocalFilesystem } from "@holdfast/workspace";
import { type DemoFiles, demoSlot } from "../demo-files.js";
import type { NotableEvent } from "../session/notable-event.js";
import type { SessionRecord } from "../session/run-session.js";
import { lostTurns } from "./lost-turns.js";
import { savedContext, savedLog } from "./stored-session.js";

/** Sizes of one turn's last request. */
export interface TurnTokens {
  readonly turn: number;
  readonly withHoldfast: number;
  readonly wholeHistory: number;
  readonly isCompacted: boolean;
}

/** Tokens of requests: of the last one of each turn, and the total of all. */
export interface TokenFigures {
  readonly median: number;
  readonly largest: number;
  readonly last: number;
  readonly total: number;
}

/** Measured results of a demo. */
export interface Outcome {
  readonly turns: number;
  readonly lostTurns: readonly number[];
  readonly kills: number;
  readonly compactions: number;
  readonly truncations: number;
  readonly evictions: number;
  readonly evictedBytes: number;
  /** Tokens the evicted results would add to every later request. */
  readonly evictedTokens: number;
  /** Facts in the long-term memory at the end. */
  readonly memoryFacts: number;
  /** Decision that had left the context and was quoted by the model; null when it was not found. */
  readonly quote: string | null;
  readonly tokens: { readonly withHoldfast: TokenFigures; readonly wholeHistory: TokenFigures };
  readonly storeBytes: number;
  readonly perTurn: readonly TurnTokens[];
  /** One sentence per promise that was not kept. */
  readonly problems: readonly string[];
}

/** Reads what was stored and compares it with what was observed. */
export async function measureOutcome(files: DemoFiles, session: SessionRecord): Promise<Outcome> {
  const records = await savedLog(files.store);
  const counter = characterEstimate();
  const whole = wholeHistory(records, counter, session.promptTokens);
  const compactedIn = new Set(
    session.notableEvents.filter(({ kind }) => kind === "compacted").map(({ turn }) => turn),
  );
  const perTurn = session.turns.map(({ turn, callId, tokens }) => ({
    turn,
    withHoldfast: tokens,
    wholeHistory: whole.lastRequestOf.get(callId) ?? 0,
    isCompacted: compactedIn.has(turn),
  }));
  const count = (kind: NotableEvent["kind"]): number =>
    session.notableEvents.filter((event) => event.kind === kind).length;
  const asked = session.turns.find(({ asksFor }) => asksFor !== undefined);
  const outcome = {
    turns: session.turns.length,
    lostTurns: lostTurns(session.turns, records),
    kills: session.kills,
    compactions: count("compacted"),
    truncations: count("truncated"),
    evictions: count("evicted"),
    evictedBytes: await evictedBytes(files.workspace),
    evictedTokens: counter.countMessages(resultsOf(session.evictedToolCallIds, records)),
    memoryFacts: await factsIn(files.workspace),
    quote: asked?.answer.includes(asked.asksFor ?? "") ? (asked.asksFor ?? null) : null,
    tokens: {
      withHoldfast: figures(
        perTurn.map(({ withHoldfast }) => withHoldfast),
        session.sentTokens,
      ),
      wholeHistory: figures(
        perTurn.map((turn) => turn.wholeHistory),
        whole.totalTokens,
      ),
    },
    storeBytes: await bytesBelow(files.store),
    perTurn,
  };
  const lastSaved = (await savedContext(files.store)).at(-1);
  const problems = [...session.problems, ...brokenPromises(outcome)];
  if (lastSaved === undefined || textOf(lastSaved) !== session.turns.at(-1)?.answer)
    problems.push("the saved state does not end with the last answer");
  return { ...outcome, problems };
}

function brokenPromises(outcome: Omit<Outcome, "problems">): string[] {
  const { lostTurns: lost, kills, compactions, truncations, evictions } = outcome;
  const { withHoldfast, wholeHistory: whole } = outcome.tokens;
  const promises: readonly (readonly [boolean, string])[] = [
    [lost.length === 0, `turns were lost: ${lost.join(", ")}`],
    [kills === 1, `${kills} processes were killed, it should be 1`],
    [compactions >= 2, `${compactions} compactions, it should be 2 or more`],
    [truncations >= 1, "no argument was truncated"],
    [evictions >= 1, "no tool result was evicted"],
    [outcome.memoryFacts >= 1, "nothing is in the memory"],
    [outcome.quote !== null, "what was compacted away was not found again"],
    [withHoldfast.total < whole.total, "the whole history would have taken fewer tokens"],
  ];
  return promises.filter(([isKept]) => !isKept).map(([, problem]) => problem);
}

/** Returns the messages with the full results of these tool calls, from the log. */
function resultsOf(toolCallIds: readonly string[], records: readonly LogRecord[]): Message[] {
  const isMeant = (message: Message): boolean =>
    toolResultsOf(message).some(({ toolCallId }) => toolCallIds.includes(toolCallId));
  return records.flatMap(({ message }) => (message && isMeant(message) ? [message] : []));
}

async function factsIn(workspace: string): Promise<number> {
  const memory = await new LocalFilesystem({ root: workspace }).read(demoSlot, "MEMORY.md");
  return memory === null ? 0 : (new TextDecoder().decode(memory).match(/^- /gm)?.length ?? 0);
}

async function evictedBytes(workspace: string): Promise<number> {
  const files = new LocalFilesystem({ root: workspace });
  const evicted = await files.list(demoSlot, "large_tool_results");
  return evicted.reduce((sum, { bytes }) => sum + bytes, 0);
}

async function bytesBelow(directory: string): Promise<number> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = files.map(({ parentPath, name }) => stat(join(parentPath, name)));
  return (await Promise.all(sizes)).reduce((sum, { size }) => sum + size, 0);
}

function figures(values: readonly number[], total: number): TokenFigures {
  const sorted = [...values].sort((a, b) => a - b);
  return {
    median: sorted[sorted.length >> 1] ?? 0,
    largest: sorted.at(-1) ?? 0,
    last: values.at(-1) ?? 0,
    total,
  };
}

/** Tokens a session would have sent if every request held everything said before it. */
interface WholeHistory {
  /** Tokens of the last request of each call. */
  readonly lastRequestOf: ReadonlyMap<string, number>;
  /** Tokens of all requests together. */
  readonly totalTokens: number;
}

/** Computes the figures from the log, with the counter that the model uses. */
function wholeHistory(
  records: readonly LogRecord[],
  counter: TokenCounter,
  promptTokens: number,
): WholeHistory {
  const lastRequestOf = new Map<string, number>();
  let tokens = promptTokens;
  let totalTokens = 0;
  for (const { callId, message } of records) {
    if (message === undefined) continue;
    // Every reply answered one request, which held everything before it.
    if (message.role === "assistant") {
      lastRequestOf.set(callId, tokens);
      totalTokens += tokens;
    }
    tokens += counter.countMessages([message]);
  }
  return { lastRequestOf, totalTokens };
}
