const opening =
  "This is a summary of the conversation so far; what came before it is no longer shown.";
const keptOpening = "<kept>";
const keptClosing = "</kept>";
/** How many places of earlier parts are named; older ones are in the same place. */
const MAX_PLACES = 12;

/** The text of a summary message: what it is, the summary, and where everything that was said can be read. */
export function summaryText(summary: string, places: readonly string[]): string {
  const kept =
    places.length === 0
      ? ""
      : `\n\nIt is kept word for word:\n${keptOpening}\n${places.slice(-MAX_PLACES).join("\n")}\n${keptClosing}`;
  return `${opening}\n\n<summary>\n${summary}\n</summary>${kept}`;
}

/** The places an earlier summary message names: carried over by the program, not by the summariser. */
export function placesIn(text: string | null): string[] {
  const start = text?.lastIndexOf(`\n${keptOpening}\n`) ?? -1;
  if (text === null || start < 0 || !text.endsWith(`\n${keptClosing}`)) return [];
  return text
    .slice(start + keptOpening.length + 2, -keptClosing.length - 1)
    .split("\n")
    .filter((line) => line !== "");
}
