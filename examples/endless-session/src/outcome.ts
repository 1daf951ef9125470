import { triggerTokens } from "./bookkeeper.js";
import type { BytesOnDisk } from "./bytes-on-disk.js";
import type { ContextChange } from "./context-change.js";
import { windowTokens } from "./provider.js";
import type { SessionRecord, TurnRecord } from "./session.js";

/** A question that could only be answered from what had left the context. */
export interface Fact {
  readonly turn: number;
  readonly question: string;
  readonly answer: string;
  readonly right: boolean;
}

/** Result of a session, in numbers. */
export interface Outcome {
  readonly turns: number;
  readonly triggerTokens: number;
  readonly windowTokens: number;
  /** The longest request of the agent that was answered. */
  readonly longestRequest: number;
  /** Of all requests, refused ones and summaries included. */
  readonly sentTokens: number;
  /** Of the requests with the whole history in each. */
  readonly wholeTokens: number;
  /** The first turn whose whole history is longer than the window. */
  readonly wholeEndsAt: number | undefined;
  readonly facts: readonly Fact[];
  readonly contextChanges: readonly ContextChange[];
  readonly disk: BytesOnDisk;
  /** Problems, one sentence each. */
  readonly problems: readonly string[];
}

/** Adds up a session and checks it. */
export function outcomeOf(session: SessionRecord): Outcome {
  const { turns, contextChanges, served, whole, disk } = session;
  const steps = served.filter(({ purpose, refused }) => purpose === "step" && !refused);
  const longestRequest = Math.max(...steps.map(({ tokens }) => tokens));
  const facts = turns.flatMap(factOf);
  const problems = contextChanges
    .filter(({ kind }) => kind === "failure")
    .map(({ turn, text }) => `turn ${turn}: ${text}`);
  for (const { turn, right } of facts)
    if (!right) problems.push(`turn ${turn}: the answer is not right`);
  if (longestRequest >= triggerTokens)
    problems.push(`a request had ${longestRequest} tokens, the trigger is ${triggerTokens}`);
  for (const kind of ["summary", "truncation", "eviction", "recovery"])
    if (!contextChanges.some((contextChange) => contextChange.kind === kind))
      problems.push(`there was no ${kind}`);
  return {
    ...{ turns: turns.length, triggerTokens, windowTokens, longestRequest },
    sentTokens: served.reduce((sum, { tokens }) => sum + tokens, 0),
    wholeTokens: whole.totalTokens,
    wholeEndsAt: turns.find(({ callId }) => (whole.lastRequestOf.get(callId) ?? 0) > windowTokens)
      ?.turn,
    ...{ facts, contextChanges, disk, problems },
  };
}

function factOf({ turn, says, answer, expects }: TurnRecord): Fact[] {
  if (expects === undefined) return [];
  return [{ turn, question: says, answer, right: expects.every((part) => answer.includes(part)) }];
}
