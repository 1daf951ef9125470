/** Most characters of an answer that is a list: the default size of a page of `read_file`. */
export const MAX_ANSWER_CHARS = 65_536;

/**
 * Joins the first rows of a list, limited in number and in characters, with a last row about those left out.
 *
 * @param more - returns the text of that row
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
