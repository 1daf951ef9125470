/**
 * Everything by which text could steer a terminal, hide part of itself or change what stands beside it: C0 and C1
 * controls, separators of lines that are none, and marks that turn the direction of writing. Line feed and tab stay.
 */
const unsafe =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/**
 * Text of unknown origin as it may be written to a terminal: a control character becomes a visible `\xNN` or `\uNNNN`.
 * `\r\n` becomes `\n`.
 */
export function safeText(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(unsafe, visible);
}

/** As {@link safeText}, on one line: line feeds and tabs become spaces. */
export function safeLine(text: string): string {
  return safeText(text).replace(/\s+/gu, " ").trim();
}

/** As {@link safeText}, on one line and to the letter, for ids: of two that differ none looks like the other. */
export function safeName(text: string): string {
  return safeText(text).replace(/[\n\t]/g, visible);
}

/** JSON on one line, in which nothing stands that a terminal would obey; it means the same. */
export function safeJson(value: unknown): string {
  // Within JSON these occur in strings only, where an escape may stand for each.
  return JSON.stringify(value).replace(unsafe, escaped);
}

function visible(character: string): string {
  const code = character.charCodeAt(0);
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : escaped(character);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** {@link safeText} for text that comes in pieces: none is judged by half a character. */
export class SafeTextStream {
  #rest = "";

  /** As much as can be shown already. */
  push(piece: string): string {
    const text = this.#rest + piece;
    const isSplit = /[\r\ud800-\udbff]$/.test(text);
    this.#rest = isSplit ? text.slice(-1) : "";
    return safeText(isSplit ? text.slice(0, -1) : text);
  }

  /** What was held back. */
  end(): string {
    const rest = safeText(this.#rest);
    this.#rest = "";
    return rest;
  }
}
