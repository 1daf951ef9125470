const opening =
  "This is a summary of the conversation so far; what came before it is no longer shown.";
const keptOpening = "<kept>";
const keptClosing = "</kept>";
/** Places of earlier parts to name; older ones are dropped. */
const MAX_PLACES = 12;

/** Text of a summary message: a header, the summary, and where the original messages can be read. */
export function summaryText(summary: string, places: readonly string[]): string {
  const kept =
    places.length === 0
      ? ""
      : `\n\nIt is kept word for word:\n${keptOpening}\n${places.slice(-MAX_PLACES).join("\n")}\n${keptClosing}`;
  return `${opening}\n\n<summary>\n${summary}\n</summary>${kept}`;
}

/** Returns the places that an earlier summary message names: the program carries them over, not the summariser. */
export function placesIn(text: string | null): string[] {
  const start = text?.lastIndexOf(`\n${keptOpening}\n`) ?? -1;
  if (text === null || start < 0 || !text.endsWith(`\n${keptClosing}`)) return [];
  return text
    .slice(start + keptOpening.length + 2, -keptClosing.length - 1)
    .split("\n")
    .filter((line) => line !== "");
}
