const HEADING = /^ {0,3}#{1,6}[ \t]+(.*)$/gm;

/** Where saved facts wait until they are merged: under the last heading of the file they could mean something else. */
const SAVED_HEADING = "Recently saved";

/** What to append to the text of `MEMORY.md` to add list items to it. */
export function memoryAddition(memory: string, items: string): string {
  const heading = [...memory.matchAll(HEADING)].at(-1)?.[1]?.trim();
  const lineEnd = memory === "" || memory.endsWith("\n") ? "" : "\n";
  if (heading === undefined || heading === SAVED_HEADING) return `${lineEnd}${items}`;
  return `${lineEnd}\n## ${SAVED_HEADING}\n\n${items}`;
}
