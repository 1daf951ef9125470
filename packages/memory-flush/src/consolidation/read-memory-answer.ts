import type { ModelAnswer, TokenCounter } from "@holdfast/core";
import { MemoryFailure } from "../failure-of.js";
import { headOf } from "../quote/cut-text.js";
import { plainText } from "../quote/plain-text.js";

/** Memories shorter than this may shrink to anything. */
const SMALL_CHARS = 1_000;
/** The last line of a memory that was cut. */
const CUT_NOTE = "(Older notes are not shown here; memory_search finds them.)";

/**
 * The new `MEMORY.md` in an answer.
 *
 * @throws MemoryFailure for one that would lose memory: empty, broken off, or far shorter than what it replaces
 */
export function readMemoryAnswer(
  answer: Pick<ModelAnswer, "text" | "isCutOff" | "isTooLong">,
  memory: string,
  maxTokens: number,
  counter: TokenCounter,
): string {
  if (answer.isCutOff || answer.isTooLong) throw new MemoryFailure("the new memory broke off");
  const text = withoutCutNote(unwrap(plainText(answer.text).trim())).trim();
  if (text === "") throw new MemoryFailure("the new memory was empty");
  const kept = counter.countText(text);
  const before = Math.min(counter.countText(memory), maxTokens);
  if (memory.length > SMALL_CHARS && kept < before / 5)
    throw new MemoryFailure("the new memory would have lost most of the old one");
  return `${text}\n`;
}

/** A memory of at most `maxTokens`: of a longer one the first lines that fit, and a line that says so. */
export function fitMemory(text: string, maxTokens: number, counter: TokenCounter): string {
  if (counter.countText(text) <= maxTokens) return text;
  const note = `\n${CUT_NOTE}\n`;
  // Counted apart, texts may take a token less than together.
  for (let room = maxTokens - counter.countText(note); room > 0; room--) {
    const cut = headOf(text, room, counter).trimEnd() + note;
    if (counter.countText(cut) <= maxTokens) return cut.trimStart();
  }
  return `${CUT_NOTE}\n`;
}

/** A memory without the line that says it was cut; the next one may fit. */
export function withoutCutNote(memory: string): string {
  return memory
    .split("\n")
    .filter((line) => line.trim() !== CUT_NOTE)
    .join("\n");
}

/** Without a code fence or marks around the whole. */
function unwrap(text: string): string {
  const fenced = /^```[a-z]*\n(.*)\n```$/s.exec(text)?.[1] ?? text;
  return (/^<memory[^>]*>\n?(.*)<\/memory>$/s.exec(fenced.trim())?.[1] ?? fenced).trim();
}
