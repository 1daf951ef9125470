import stringWidth from "string-width";
import { safeText } from "./safe-text.js";

/** Begins every quoted row. */
export const QUOTE_MARGIN = "│ ";
/** Indent of the rows of a line that continues the one above. */
const CONTINUED = "    ";
/** Least room for text, on however narrow a terminal. */
const MIN_COLUMNS = 16;

/**
 * Quotes text of unknown origin: every row begins with a margin, and long lines are wrapped below it, so that no part of the
 * text can be taken for a line of this program.
 */
export function quoteLines(text: string, columns: number): string[] {
  const room = Math.max(MIN_COLUMNS, columns - 1 - QUOTE_MARGIN.length);
  return safeText(text)
    .split("\n")
    .flatMap((line) => wrap(line.replaceAll("\t", "  "), room))
    .map((row) => (QUOTE_MARGIN + row).trimEnd());
}

function wrap(line: string, room: number): string[] {
  if (stringWidth(line) <= room) return [line];
  const rows: string[] = [];
  let row = "";
  let width = 0;
  for (const character of line) {
    const added = stringWidth(character);
    if (width + added > room) {
      rows.push(row);
      row = CONTINUED;
      width = CONTINUED.length;
    }
    row += character;
    width += added;
  }
  return [...rows, row];
}
