import { type Match, newerFirst } from "./ranking.js";
import { factKey } from "./words.js";

/** Scores that differ by less than 1/20 of the best one count as equal. */
const STEPS = 20;

interface Place {
  readonly match: Match;
  readonly step: number;
  readonly key: string;
}

/**
 * Collects the best of many matches without keeping or sorting all of them. Among equals `MEMORY.md` comes first, then newer
 * notes; duplicates count once.
 */
export class BestMatches {
  readonly #size: number;
  readonly #bestScore: number;
  readonly #places: Place[] = [];

  constructor(size: number, bestScore: number) {
    this.#size = size;
    this.#bestScore = bestScore;
  }

  add(match: Match, score: number): void {
    if (score <= 0) return;
    const step = Math.round((STEPS * score) / this.#bestScore);
    const last = this.#places[this.#size - 1];
    if (last !== undefined && isBefore(last, { match, step })) return;
    const place = { match, step, key: factKey(match.text) };
    const same = this.#places.findIndex(({ key }) => key === place.key);
    if (same >= 0) {
      if (isBefore(this.#places[same] as Place, place)) return;
      this.#places.splice(same, 1);
    }
    const at = this.#places.findIndex((other) => isBefore(place, other));
    this.#places.splice(at < 0 ? this.#places.length : at, 0, place);
    if (this.#places.length > this.#size) this.#places.pop();
  }

  get matches(): Match[] {
    return this.#places.map(({ match }) => match);
  }
}

function isBefore(a: Pick<Place, "match" | "step">, b: Pick<Place, "match" | "step">): boolean {
  return (b.step - a.step || newerFirst(a.match, b.match)) <= 0;
}
