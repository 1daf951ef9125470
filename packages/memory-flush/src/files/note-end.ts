const NOTE_END = /^<!-- flush [0-9a-f-]{36} -->\n?/gm;

/** The last line of a note made by a flush: with it there, the note was written whole. Not seen where Markdown is shown. */
export function noteEnd(id: string): string {
  return `<!-- flush ${id} -->`;
}

/** Notes without the ends that {@link noteEnd} makes. */
export function withoutNoteEnds(text: string): string {
  return text.replace(NOTE_END, "");
}
