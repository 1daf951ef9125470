/** How much of a section's body is shown. */
export interface Extent {
  readonly chars: number;
  readonly lines: number;
}

/** A part of the system prompt that can be cut. */
export interface Section {
  /** Comes before the body; with the outro, never cut. */
  readonly intro: string;
  readonly body: string;
  readonly outro: string;
  /** Whether it may be cut only between lines, because each is an entry. */
  readonly isList: boolean;
  /** Says, where the body was cut, how much is missing and where it can be read. Absent: shown whole or not at all. */
  readonly cutNote?: ((shown: Extent, wholeChars: number) => string) | undefined;
}

/** The section with its whole body. */
export function wholeSection({ intro, body, outro }: Section): string {
  return intro + body + outro;
}

/** The section with the first `chars` characters of its body and a note about the rest. */
export function cutSection(
  section: Section,
  chars: number,
  cutNote: NonNullable<Section["cutNote"]>,
): string {
  const { intro, body, outro } = section;
  const shown = body.slice(0, chars);
  const note = cutNote({ chars, lines: countNewlines(shown) }, body.length);
  return `${intro}${shown}${shown === "" || shown.endsWith("\n") ? "" : "\n"}${note}${outro}`;
}

function countNewlines(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count++;
  return count;
}
