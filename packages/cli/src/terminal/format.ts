import stringWidth from "string-width";
import { safeName } from "./safe-text.js";
import type { Terminal } from "./terminal.js";

/** Formats a number of bytes: `812 B`, `34.1 KB`. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  for (const unit of ["B", "KB", "MB"]) {
    if (value < 1_000) return `${unit === "B" ? value : value.toFixed(1)} ${unit}`;
    value /= 1_000;
  }
  return `${value.toFixed(1)} GB`;
}

/** Formats a duration: `12 ms`, `3.4 s`, `2 min 5 s`, `3 h 12 min`, `2 d 5 h`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  const [minutes, hours] = [Math.floor(seconds / 60), Math.floor(seconds / 3_600)];
  if (hours >= 24) return `${Math.floor(hours / 24)} d ${hours % 24} h`;
  return hours > 0 ? `${hours} h ${minutes % 60} min` : `${minutes} min ${seconds % 60} s`;
}

/** Formats a number with thousands separators. */
export function formatCount(count: number): string {
  return count.toLocaleString("en-US");
}

/** Formats a count with its noun: `1 message`, `2 messages`. */
export function plural(count: number, one: string, many: string = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/** Shortens a text to a number of characters, with an ellipsis. */
export function clip(text: string, maxChars: number): string {
  const characters = [...text];
  return characters.length <= maxChars ? text : `${characters.slice(0, maxChars - 1).join("")}…`;
}

/** Prints rows under headings, each column as wide as its widest cell. Control characters in cells are escaped. */
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
