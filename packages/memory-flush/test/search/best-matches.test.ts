import fc from "fast-check";
import { expect, test } from "vitest";
import { BestMatches } from "../../src/search/best-matches.js";
import type { Match } from "../../src/search/ranking.js";

const counts = { exact: [], loose: [], length: 1, hasPhrase: false };

test("the best are the same as those of a sorted list, each text once", () => {
  const candidates = fc.uniqueArray(
    fc.record({
      file: fc.nat(3),
      line: fc.nat(30),
      score: fc.nat(20),
      text: fc.nat(12).map(String),
    }),
    { selector: ({ file, line }) => file * 100 + line, maxLength: 60 },
  );
  fc.assert(
    fc.property(candidates, fc.integer({ min: 1, max: 8 }), (list, size) => {
      const best = new BestMatches(size, 20);
      for (const { score, ...note } of list) {
        const match: Match = { ...note, heading: "", path: "MEMORY.md", counts };
        best.add(match, score);
      }
      const seen = new Set<string>();
      const expected = list
        .filter(({ score }) => score > 0)
        .sort((a, b) => b.score - a.score || a.file - b.file || b.line - a.line)
        .filter(({ text }) => !seen.has(text) && seen.add(text))
        .slice(0, size);
      const place = ({ file, line }: { file: number; line: number }) => `${file}:${line}`;
      expect(best.matches.map(place)).toEqual(expected.map(place));
    }),
  );
});
