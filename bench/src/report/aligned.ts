/** Columns that hold names; all others hold figures. */
const NAMES = 2;

/** Shortest column that a Markdown table may have. */
const MIN_WIDTH = 3;

/** Pads texts so that columns have one width: names to the left, figures to the right. */
export function aligned(cells: readonly (readonly string[])[]): string[][] {
  const widths = (cells[0] ?? []).map((_, column) =>
    Math.max(MIN_WIDTH, ...cells.map((row) => row[column]?.length ?? 0)),
  );
  return cells.map((row) =>
    row.map((text, column) => {
      const width = widths[column] ?? 0;
      return column < NAMES ? text.padEnd(width) : text.padStart(width);
    }),
  );
}
