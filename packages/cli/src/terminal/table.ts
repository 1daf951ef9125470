import stringWidth from "string-width";
import { safeName } from "./safe-text.js";
import type { Terminal } from "./terminal.js";

/** Prints rows under headings, each column as wide as its widest cell. Cells may come from anywhere. */
export function printTable(
  terminal: Terminal,
  headings: readonly string[],
  rows: readonly (readonly string[])[],
): void {
  const cells = rows.map((row) => row.map(safeName));
  const widths = headings.map((heading, column) =>
    Math.max(stringWidth(heading), ...cells.map((row) => stringWidth(row[column] ?? ""))),
  );
  const layOut = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell + " ".repeat((widths[column] ?? 0) - stringWidth(cell)))
      .join("  ")
      .trimEnd();
  terminal.line(terminal.colors.dim(layOut(headings)));
  for (const row of cells) terminal.line(layOut(row));
}
