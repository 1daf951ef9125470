import type { Violation } from "./checks/check.js";
import { type HistoryReport, merged } from "./run-history.js";
import { storeKinds } from "./store-rig.js";

/** Tables of what happened, in Markdown: operations, their outcomes and faults, by store. */
export function figures(reports: readonly HistoryReport[]): string {
  const kinds = storeKinds.filter((kind) => reports.some((report) => report.kind === kind));
  const table = (title: string, counts: (report: HistoryReport) => ReadonlyMap<string, number>) => {
    const byKind = kinds.map((kind) =>
      merged(reports.filter((report) => report.kind === kind).map(counts)),
    );
    const names = [...merged(byKind).keys()].sort();
    const rows = [...names, "total"].map((name) => [
      name,
      ...byKind.map((some) => String(name === "total" ? sum(some) : (some.get(name) ?? 0))),
    ]);
    return markdown([title, ...kinds], rows);
  };
  return [
    table("operations", ({ operations }) => operations),
    table("outcomes", ({ outcomes }) => outcomes),
    table("faults", ({ faults }) => faults),
    table("violations", ({ violations }) => countsOf(violations)),
  ].join("\n\n");
}

/** Violations in a few lines, with the seed that shows them again. */
export function describeViolations({ kind, seed, violations }: HistoryReport): string {
  const lines = violations
    .slice(0, 20)
    .map(({ check, session, message }) => `- ${session}: ${check}: ${message}`);
  const more = violations.length > 20 ? [`- and ${violations.length - 20} more`] : [];
  return [`${violations.length} violations on ${kind} with seed ${seed}:`, ...lines, ...more].join(
    "\n",
  );
}

function countsOf(violations: readonly Violation[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { check } of violations) counts.set(check, (counts.get(check) ?? 0) + 1);
  return counts;
}

function sum(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((total, count) => total + count, 0);
}

function markdown(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) =>
    Math.max(3, title.length, ...rows.map((row) => (row[column] ?? "").length)),
  );
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join(" | ")} |`;
  const rule = widths.map((width, column) =>
    column === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`,
  );
  return [line(head), line(rule), ...rows.map(line)].join("\n");
}
