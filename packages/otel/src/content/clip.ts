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
  if (json.length <= maxChars) return json;
  // Quotes within are escaped once more.
  let room = maxChars;
  let text = clip(json, room);
  while (JSON.stringify(text).length > maxChars && room > 0) {
    room = Math.floor(room * 0.8);
    text = clip(json, room);
  }
  return JSON.stringify(text);
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
