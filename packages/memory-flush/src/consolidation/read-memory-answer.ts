import type { TokenCounter } from "@holdfast/core";
import type { ModelAnswer } from "@holdfast/core/plugin-kit";
import { MemoryFailure } from "../memory-failure.js";
import { anyHeadOf, headOf } from "../quote/cut-text.js";
import { plainText } from "../quote/plain-text.js";

/** Memories shorter than this may shrink to any length. */
const SMALL_CHARS = 200;
/** Last line of a memory that was cut. */
const CUT_NOTE = "(Older notes are not shown here; memory_search finds them.)";

/**
 * Reads the new `MEMORY.md` from an answer.
 *
 * @throws MemoryFailure for an answer that would lose memory: empty, cut off, or far shorter than what it replaces
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
  if (!text.split("\n").some(isContent)) throw new MemoryFailure("the new memory had no facts");
  const kept = counter.countText(text);
  const before = Math.min(counter.countText(memory), maxTokens);
  if (memory.length > SMALL_CHARS && kept < before / 5)
    throw new MemoryFailure("the new memory would have lost most of the old one");
  return `${text}\n`;
}

/**
 * Cuts a memory to `maxTokens`: keeps the first lines that fit, and adds a line that says so.
 *
 * @throws MemoryFailure when nothing fits, because of a broken token counter: the old memory must not be lost
 */
export function fitMemory(text: string, maxTokens: number, counter: TokenCounter): string {
  if (counter.countText(text) <= maxTokens) return text;
  const note = `\n${CUT_NOTE}\n`;
  // The parts may have a token less than the whole.
  for (let room = maxTokens - counter.countText(note); room > 0; room -= Math.max(1, room >> 4)) {
    const head = headWithin(text, room, counter);
    const cut = head + note;
    if (head !== "" && counter.countText(cut) <= maxTokens) return cut;
  }
  throw new MemoryFailure("the new memory could not be made to fit");
}

/** Returns whole lines, unless a very long line would leave next to nothing. */
function headWithin(text: string, maxTokens: number, counter: TokenCounter): string {
  const lines = headOf(text, maxTokens, counter).trim();
  if (lines !== "" && counter.countText(lines) > maxTokens / 2) return lines;
  const part = anyHeadOf(text, maxTokens - counter.countText("…"), counter).trim();
  return part.length > lines.length ? `${part}…` : lines;
}

/** Tells whether a line has content: not a heading, a rule or a code fence. */
function isContent(line: string): boolean {
  return /[\p{L}\p{N}]/u.test(line) && !/^\s*(?:#|`{3}|~{3})/.test(line);
}

/** Removes the line that says a memory was cut; the next one may fit. */
export function withoutCutNote(memory: string): string {
  return memory
    .split("\n")
    .filter((line) => line.trim() !== CUT_NOTE)
    .join("\n");
}

/** Removes a code fence or marks around the whole text. */
function unwrap(text: string): string {
  const inside = /^```(?:markdown|md)?[ \t]*\n(.*)\n```$/is.exec(text)?.[1];
  // If the next fence is a closing one, the first and the last do not enclose the whole text.
  const isWhole = !/^```[ \t]*$/.test(/^```.*$/m.exec(inside ?? "")?.[0] ?? "");
  const fenced = isWhole && inside !== undefined ? inside : text;
  return (/^<memory[^>]*>\n?(.*)<\/memory>$/s.exec(fenced.trim())?.[1] ?? fenced).trim();
}
