import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import {
  characterEstimate,
  type LogRecord,
  type Message,
  textOf,
  toolResultsOf,
} from "@holdfast/core";
import { JsonFileAgentStateStore, type JsonlConversationLog } from "@holdfast/store-json";
import { LocalFilesystem } from "@holdfast/workspace";
import type { Happening } from "./happening.js";
import { lostTurns } from "./lost-turns.js";
import type { SessionRecord } from "./session-record.js";
import { savedContext } from "./session-state.js";
import { demoSlot, type Stage } from "./stage.js";
import { logRecords, wholeHistory } from "./whole-history.js";

/** A turn in the plot. */
export interface TurnTokens {
  readonly turn: number;
  readonly withHoldfast: number;
  readonly wholeHistory: number;
  readonly isCompacted: boolean;
}

/** Tokens of requests: the last one of each turn, and all of them together. */
export interface TokenFigures {
  readonly median: number;
  readonly largest: number;
  readonly last: number;
  readonly total: number;
}

/** What came of the demo, all of it measured. */
export interface Outcome {
  readonly turns: number;
  readonly lostTurns: readonly number[];
  readonly kills: number;
  readonly compactions: number;
  readonly truncations: number;
  readonly evictions: number;
  readonly evictedBytes: number;
  /** What the evicted results would add to every later request with the whole history. */
  readonly evictedTokens: number;
  /** Facts in the memory at the end. */
  readonly memoryFacts: number;
  /** What the model said about a decision that had left the context; null when it was not found. */
  readonly quote: string | null;
  readonly tokens: { readonly withHoldfast: TokenFigures; readonly wholeHistory: TokenFigures };
  readonly storeBytes: number;
  readonly perTurn: readonly TurnTokens[];
  /** Promises that were not kept, one sentence each; none when all is well. */
  readonly problems: readonly string[];
}

/** Reads what was stored and compares it with what was seen. */
export async function outcomeOf(stage: Stage, session: SessionRecord): Promise<Outcome> {
  const store = new JsonFileAgentStateStore({ root: stage.store });
  const log = store.companions().log as JsonlConversationLog;
  const records = await logRecords(log);
  await store.close();
  const counter = characterEstimate();
  const whole = wholeHistory(records, counter, session.promptTokens);
  const compactedIn = new Set(
    session.happenings.filter(({ kind }) => kind === "compacted").map(({ turn }) => turn),
  );
  const perTurn = session.turns.map(({ turn, callId, tokens }) => ({
    turn,
    withHoldfast: tokens,
    wholeHistory: whole.lastRequestOf.get(callId) ?? 0,
    isCompacted: compactedIn.has(turn),
  }));
  const count = (kind: Happening["kind"]): number =>
    session.happenings.filter((happening) => happening.kind === kind).length;
  const asked = session.turns.find(({ asksFor }) => asksFor !== undefined);
  const outcome = {
    turns: session.turns.length,
    lostTurns: lostTurns(session.turns, records),
    kills: session.kills,
    compactions: count("compacted"),
    truncations: count("truncated"),
    evictions: count("evicted"),
    evictedBytes: await evictedBytes(stage.workspace),
    evictedTokens: counter.countMessages(resultsOf(session.evictedCalls, records)),
    memoryFacts: await factsIn(stage.workspace),
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
    storeBytes: await bytesBelow(stage.store),
    perTurn,
  };
  const lastSaved = (await savedContext(stage.store)).at(-1);
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

/** The messages with the results of these calls, as the log has them: whole. */
function resultsOf(calls: readonly string[], records: readonly LogRecord[]): Message[] {
  const isMeant = (message: Message): boolean =>
    toolResultsOf(message).some(({ toolCallId }) => calls.includes(toolCallId));
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
