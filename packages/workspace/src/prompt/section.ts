/** Size of the part of a section's body that is shown. */
export interface Extent {
  readonly chars: number;
  readonly lines: number;
}

/** Part of the system prompt that can be cut. */
export interface Section {
  /** Text before the body; like the outro, it is never cut. */
  readonly intro: string;
  readonly body: string;
  readonly outro: string;
  /** True when each line is an entry: the body is then cut only between lines. */
  readonly isList: boolean;
  /** Returns a note for a cut body: how much is missing and where to read it. Absent: shown whole or not at all. */
  readonly cutNote?: ((shown: Extent, wholeChars: number) => string) | undefined;
}

/** Returns the section with its whole body. */
export function wholeSection({ intro, body, outro }: Section): string {
  return intro + body + outro;
}

/** Returns the section with the first `chars` characters of its body and a note about the rest. */
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
