import { cutIndex } from "@holdfast/core/plugin-kit";

/** What stands between two texts. */
const SEPARATOR_TOKENS = 2;

/**
 * Texts put together into as few pieces as possible, none with more than `maxTokens`, nothing left out: a text that is too
 * long for one piece goes on in the next.
 */
export function transcriptChunks(
  texts: readonly string[],
  maxTokens: number,
  countText: (text: string) => number,
): string[] {
  const chunks: string[] = [];
  let current = "";
  let used = 0;
  const close = (): void => {
    if (current !== "") chunks.push(current);
    current = "";
    used = 0;
  };
  for (const text of texts) {
    const whole = countText(text) + SEPARATOR_TOKENS;
    const parts =
      whole <= maxTokens ? [text] : pieces(text, maxTokens - SEPARATOR_TOKENS, countText);
    for (const part of parts) {
      const tokens = part === text ? whole : countText(part) + SEPARATOR_TOKENS;
      if (used + tokens > maxTokens) close();
      current += current === "" ? part : `\n\n${part}`;
      used += tokens;
    }
  }
  close();
  return chunks;
}

/** One long text in pieces; each is as long as the last one suggests and halved until it fits. */
function pieces(text: string, maxTokens: number, countText: (text: string) => number): string[] {
  const parts: string[] = [];
  let size = Math.max(2, Math.floor((text.length * maxTokens) / Math.max(1, countText(text))));
  for (let start = 0; start < text.length; ) {
    let end = pieceEnd(text, start, size);
    while (end - start > 2 && countText(text.slice(start, end)) > maxTokens) {
      size = Math.max(2, Math.floor((end - start) * 0.75));
      end = pieceEnd(text, start, size);
    }
    parts.push(text.slice(start, end));
    start = end;
  }
  return parts;
}

/** How far back to look for a space to cut at. */
const LOOK_BACK = 200;

/** Where a piece of about `size` characters ends: behind a space where there is one, as half a word or number is none. */
function pieceEnd(text: string, start: number, size: number): number {
  if (start + size >= text.length) return text.length;
  const end = Math.max(start + 1, cutIndex(text, start + size));
  const least = Math.max(start + Math.ceil(size / 2), end - LOOK_BACK);
  for (let at = end; at > least; at--) if (/\s/.test(text.charAt(at - 1))) return at;
  return end;
}
