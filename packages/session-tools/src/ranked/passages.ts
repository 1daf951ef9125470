import type { Slot } from "@holdfast/core";
import type { ShownHit, ShownTurn } from "./shown-turns.js";

/** Consecutive messages of a session, of which at least one is a hit. */
export interface Passage {
  readonly slot: Slot;
  /** In the order of the session. */
  readonly turns: readonly PassageTurn[];
}

/** A message of a passage. */
export interface PassageTurn extends ShownTurn {
  readonly isHit: boolean;
}

interface OpenPassage {
  readonly slot: Slot;
  readonly turns: Map<number, ShownTurn>;
}

/**
 * Puts hits and their neighbours together so that no message is shown twice. A hit that is already shown beside a better one
 * is marked and takes no further room, so that a page reaches as many different messages as it can.
 */
export class Passages {
  /** In the order of their best hits. */
  #open: OpenPassage[] = [];
  readonly #hits = new Set<string>();
  #rooms = 0;

  /** Number of hits that took room of their own. */
  get rooms(): number {
    return this.#rooms;
  }

  /** Number of messages that are marked. */
  get hits(): number {
    return this.#hits.size;
  }

  /** Marks a message as a hit if it is already shown. */
  mark(sessionId: string, seq: number): boolean {
    const isShown = this.#open.some(
      ({ slot, turns }) => slot.sessionId === sessionId && turns.has(seq),
    );
    if (isShown) this.#hits.add(keyOf(sessionId, seq));
    return isShown;
  }

  /** Adds a hit with its neighbours, joining the passages that it touches. */
  add({ slot, seq, turns }: ShownHit): void {
    const near = this.#open.filter(
      (passage) =>
        passage.slot.sessionId === slot.sessionId &&
        turns.some(({ record }) => passage.turns.has(record.seq)),
    );
    const [first = { slot, turns: new Map<number, ShownTurn>() }, ...rest] = near;
    for (const passage of rest) for (const [at, turn] of passage.turns) first.turns.set(at, turn);
    for (const turn of turns) first.turns.set(turn.record.seq, turn);
    if (near.length === 0) this.#open.push(first);
    this.#open = this.#open.filter((passage) => !rest.includes(passage));
    this.#hits.add(keyOf(slot.sessionId, seq));
    this.#rooms++;
  }

  get list(): readonly Passage[] {
    return this.#open.map(({ slot, turns }) => ({
      slot,
      turns: [...turns.values()]
        .sort((one, other) => one.record.seq - other.record.seq)
        .map((turn) => ({
          ...turn,
          isHit: this.#hits.has(keyOf(slot.sessionId, turn.record.seq)),
        })),
    }));
  }
}

function keyOf(sessionId: string, seq: number): string {
  return `${seq}@${sessionId}`;
}
