import { cutIndex } from "@holdfast/core/plugin-kit";

/** Returns `text`, or its beginning with a note of its full length. */
export function clip(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const note = `… [${text.length} characters]`;
  return text.slice(0, cutIndex(text, maxChars - note.length)) + note;
}

/** Returns `value` as JSON of at most `maxChars`; a longer one becomes a JSON string with its beginning. */
export function clippedJson(value: unknown, maxChars: number): string {
  const json = JSON.stringify(value) ?? "null";
  return json.length <= maxChars ? json : JSON.stringify(clipForJson(json, maxChars));
}

/** Clips `text` to at most `maxChars` as a JSON string, in which escaped characters take more room. */
export function clipForJson(text: string, maxChars: number): string {
  let room = maxChars;
  let clipped = clip(text, room);
  while (JSON.stringify(clipped).length > maxChars && room > 0) {
    room = Math.floor(room * 0.8);
    clipped = clip(text, room);
  }
  return clipped;
}
