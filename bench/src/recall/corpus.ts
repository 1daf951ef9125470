import type { Message } from "@holdfast/core";

/** Conversations with questions about them. */
export interface Corpus {
  readonly name: string;
  readonly sessions: readonly CorpusSession[];
  readonly questions: readonly CorpusQuestion[];
}

/** One conversation. */
export interface CorpusSession {
  readonly id: string;
  /** Time of the first turn; others follow a minute apart. */
  readonly startedAt: Date;
  readonly turns: readonly Message[];
}

/** A question and the turns that answer it. */
export interface CorpusQuestion {
  readonly text: string;
  /** Any of them will do. */
  readonly answers: readonly TurnPlace[];
}

/** Place of a turn: its session, and its number there, from 0. */
export interface TurnPlace {
  readonly sessionId: string;
  readonly turn: number;
}

/** Returns a place as text, to compare it. */
export function placeKey({ sessionId, turn }: TurnPlace): string {
  return `${turn}@${sessionId}`;
}
