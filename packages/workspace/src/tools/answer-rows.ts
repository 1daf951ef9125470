/** Most characters of an answer that is a list; as much as a page of `read_file` has by default. */
export const MAX_ANSWER_CHARS = 65_536;

/**
 * The first rows of a list, up to so many and so many characters, and a row that says how many are missing.
 *
 * @param more - what that row says
 */
export function answerRows(
  rows: readonly string[],
  maxRows: number,
  more: (rest: number) => string,
): string {
  const shown: string[] = [];
  let chars = 0;
  for (const row of rows) {
    chars += row.length + 1;
    if (shown.length >= maxRows || chars > MAX_ANSWER_CHARS) break;
    shown.push(row);
  }
  const rest = rows.length - shown.length;
  return [...shown, ...(rest > 0 ? [more(rest)] : [])].join("\n");
}
