import type { ReplayResult } from "./replay-result.js";

const columns: readonly (readonly [
  title: string,
  (result: ReplayResult, ours: ReplayResult) => string,
])[] = [
  ["", ({ name }) => name],
  ["requests", ({ reasoning }) => count(reasoning.requests)],
  ["summaries", ({ summaries }) => count(summaries.requests)],
  ["refused", ({ refused }) => count(refused)],
  ["invalid", ({ invalid }) => count(invalid)],
  ["longest", ({ longest }) => count(longest)],
  ["input", ({ reasoning, summaries }) => count(reasoning.input + summaries.input)],
  ["cached", ({ reasoning, summaries }) => count(reasoning.cached + summaries.cached)],
  ["billed", ({ billed }) => count(billed)],
  ["alike", ({ billedAlike }) => count(billedAlike)],
  ["for summaries", ({ summaries }) => count(Math.round(summaries.billedAlike))],
  ["to ours", (result, ours) => ratio(result, ours)],
];

/** The results of one setting as lines of text; ours is the first. */
export function replayTable(results: readonly ReplayResult[]): string[] {
  const [ours] = results;
  if (!ours) return [];
  const rows = [
    columns.map(([title]) => title),
    ...results.map((result) => columns.map(([, cell]) => cell(result, ours))),
  ];
  const widths = columns.map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows.map((row) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join("  "),
  );
}

function ratio({ failure, billedAlike }: ReplayResult, ours: ReplayResult): string {
  return failure === null ? (billedAlike / ours.billedAlike).toFixed(3) : failure;
}

function count(value: number): string {
  return value.toLocaleString("en");
}
