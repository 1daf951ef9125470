/** `text`, or its beginning with a note of how much is left out. */
export function clip(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const note = `… [${text.length} characters]`;
  let end = Math.max(0, maxChars - note.length);
  // Not between the halves of a surrogate pair.
  if (isHighSurrogate(text.charCodeAt(end - 1))) end--;
  return text.slice(0, end) + note;
}

/** `value` as JSON of at most `maxChars`; what is longer becomes a JSON string with its beginning. */
export function clippedJson(value: unknown, maxChars: number): string {
  const json = JSON.stringify(value) ?? "null";
  return json.length <= maxChars ? json : JSON.stringify(clipForJson(json, maxChars));
}

/** `text`, clipped until it has at most `maxChars` as a JSON string: what is escaped takes more room. */
export function clipForJson(text: string, maxChars: number): string {
  let room = maxChars;
  let clipped = clip(text, room);
  while (JSON.stringify(clipped).length > maxChars && room > 0) {
    room = Math.floor(room * 0.8);
    clipped = clip(text, room);
  }
  return clipped;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
