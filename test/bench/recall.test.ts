import { expect, test } from "vitest";
import { runBench } from "./run-bench.js";

test("session_search finds more than plain BM25 does, in pages of at most 1,200 tokens", () => {
  const [table] = runBench(["recall"]).tables;
  const figures = (store: string, contender: string): readonly (number | null)[] =>
    table?.rows.find((row) => row.store === store && row.contender === contender)?.figures ?? [];
  for (const [set, ahead] of [
    ["everyday chats", 10],
    ["airline desk", 0],
  ] as const) {
    const plain = figures(set, "BM25");
    const [five, ten, twenty, onPage, , mostTokens] = figures(set, "session_search");
    for (const [index, found] of [five, ten, twenty].entries())
      expect(found, `${set}, ${index}`).toBeGreaterThanOrEqual((plain[index] ?? 100) + ahead);
    expect(onPage).toBeGreaterThanOrEqual(set === "airline desk" ? 80 : 70);
    expect(mostTokens).toBeLessThanOrEqual(1_200);
  }
});
