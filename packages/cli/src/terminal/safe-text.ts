/**
 * Characters with which text could control a terminal, hide part of itself or change the text beside it: C0 and C1
 * controls, Unicode line separators, bidirectional marks and lone surrogates. Line feed and tab are kept.
 */
const unsafe =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: matching them is the purpose
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/**
 * Makes text of unknown origin safe for a terminal: control characters become a visible `\xNN` or `\uNNNN`, and `\r\n`
 * becomes `\n`.
 */
export function safeText(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(unsafe, visible);
}

/** Does the same as {@link safeText}, on one line: whitespace becomes single spaces. */
export function safeLine(text: string): string {
  return safeText(text).replace(/\s+/gu, " ").trim();
}

/** Does the same as {@link safeText} for ids, on one line: different ids never look alike. */
export function safeName(text: string): string {
  return safeText(text).replace(/[\n\t]/g, visible);
}

/** Converts a value to JSON on one line, with control characters escaped. */
export function safeJson(value: unknown): string {
  // In JSON these characters occur only in strings, where each can be escaped.
  return JSON.stringify(value).replace(unsafe, escaped);
}

function visible(character: string): string {
  const code = character.charCodeAt(0);
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : escaped(character);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Applies {@link safeText} to streamed text, without splitting a character. */
export class SafeTextStream {
  #rest = "";

  /** Returns the text that can be shown already. */
  push(piece: string): string {
    const text = this.#rest + piece;
    const isSplit = /[\r\ud800-\udbff]$/.test(text);
    this.#rest = isSplit ? text.slice(-1) : "";
    return safeText(isSplit ? text.slice(0, -1) : text);
  }

  /** Returns the text that was held back. */
  end(): string {
    const rest = safeText(this.#rest);
    this.#rest = "";
    return rest;
  }
}
