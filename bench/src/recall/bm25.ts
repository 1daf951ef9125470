import type { Message } from "@holdfast/core";
import { stemmer } from "stemmer";
import { type Corpus, placeKey, type TurnPlace } from "./corpus.js";

const K1 = 1.2;
const B = 0.75;

const stopWords = new Set(
  `a about above after again against all am an and any are as at be because been before being below between both but by can did
  do does doing down during each few for from further had has have having he her here hers him his how i if in into is it its
  just me more most my no nor not now of off on once only or other our out over own s same she should so some such t than that
  the their them then there these they this those through to too under until up very was we were what when where which while
  who whom why will with you your yours`.split(/\s+/),
);

interface IndexedTurn {
  readonly place: TurnPlace;
  readonly counts: ReadonlyMap<string, number>;
  readonly length: number;
}

/** Plain BM25 over single turns, with stop words and Porter stems: what the search of this project is measured against. */
export class Bm25 {
  readonly #turns: readonly IndexedTurn[];
  readonly #meanLength: number;
  readonly #frequencies = new Map<string, number>();

  constructor({ sessions }: Corpus) {
    this.#turns = sessions.flatMap(({ id, turns }) =>
      turns.map((message, turn): IndexedTurn => {
        const words = wordsOf(textOf(message));
        const counts = new Map<string, number>();
        for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
        for (const word of counts.keys())
          this.#frequencies.set(word, (this.#frequencies.get(word) ?? 0) + 1);
        return { place: { sessionId: id, turn }, counts, length: words.length };
      }),
    );
    const lengths = this.#turns.reduce((sum, { length }) => sum + length, 0);
    this.#meanLength = lengths / this.#turns.length;
  }

  /** Returns the best turns for a question, best first; of equal ones the last. */
  search(question: string, limit: number): string[] {
    const terms = [...new Set(wordsOf(question))];
    const scored = this.#turns.map(({ place, counts, length }, index) => {
      let score = 0;
      for (const term of terms) {
        const count = counts.get(term) ?? 0;
        if (count === 0) continue;
        const part = K1 * (1 - B + (B * length) / this.#meanLength);
        score += (this.#rarity(term) * count * (K1 + 1)) / (count + part);
      }
      return { key: placeKey(place), score, index };
    });
    return scored
      .filter(({ score }) => score > 0)
      .sort((one, other) => other.score - one.score || other.index - one.index)
      .slice(0, limit)
      .map(({ key }) => key);
  }

  #rarity(term: string): number {
    const frequency = this.#frequencies.get(term) ?? 0;
    return Math.log(1 + (this.#turns.length - frequency + 0.5) / (frequency + 0.5));
  }
}

function wordsOf(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.filter((word) => !stopWords.has(word)).map((word) => stemmer(word));
}

/** Everything that a message says: texts, calls and results. */
function textOf({ content }: Message): string {
  return content
    .map((block) => {
      if (block.type === "tool_call") return `${block.name} ${JSON.stringify(block.input)}`;
      if (block.type === "tool_result")
        return block.output.map((part) => (part.type === "text" ? part.text : "")).join(" ");
      return "text" in block ? block.text : "";
    })
    .join(" ");
}
