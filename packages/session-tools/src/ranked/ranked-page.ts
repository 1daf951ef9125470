import { cutText } from "@holdfast/core/plugin-kit";
import { type Caller, isSameSession } from "../caller.js";
import { markedSnippet } from "./marked-snippet.js";
import type { Passage, Passages, PassageTurn } from "./passages.js";

/** Tokens that a hit with its neighbours may take, and that a page with few hits may take in any case. */
const HIT_TOKENS = 104;
const FEW_HITS_TOKENS = 400;
/** Lengths of the text of a hit that are tried, until the page fits; its neighbours get half of it. */
const LENGTHS = [600, 480, 400, 330, 280, 240, 210, 180, 150, 120, 100, 80, 60, 40];
const NAME_CHARS = 64;
/** Characters of a hit before its match from which to read a long message. */
const LEAD_CHARS = 200;

/** Shows hits as passages, best first, within a number of tokens and characters. */
export function hitLines(
  passages: Passages,
  isMatch: (word: string) => boolean,
  caller: Caller,
  maxChars: number,
): string {
  const { list, rooms } = passages;
  const maxTokens = Math.max(FEW_HITS_TOKENS, HIT_TOKENS * rooms);
  let page = "";
  for (const chars of LENGTHS) {
    page = list.map((passage) => passageLines(passage, isMatch, caller, chars)).join("\n");
    if (page.length <= maxChars && estimatedTokens(page) <= maxTokens) break;
  }
  return page;
}

function passageLines(
  { slot, turns }: Passage,
  isMatch: (word: string) => boolean,
  caller: Caller,
  chars: number,
): string {
  const at = turns.find(({ isHit }) => isHit)?.record.at ?? "";
  const here = isSameSession(slot, caller.slot) ? " (this session)" : "";
  return [
    `session ${JSON.stringify(slot.sessionId)}${here}, ${minuteOf(at)}`,
    ...turns.map((turn) => turnLine(turn, isMatch, chars)),
  ].join("\n");
}

function turnLine(
  { record, remark, text, isCut, offsetOf, isHit }: PassageTurn,
  isMatch: (word: string) => boolean,
  chars: number,
): string {
  const { role, name } = record.message;
  const said = typeof name === "string" ? ` ${JSON.stringify(cutText(name, NAME_CHARS))}` : "";
  const who = `${cutText(String(role), NAME_CHARS)}${said}${remark}`;
  const shown = isHit
    ? markedSnippet(text, isMatch, chars)
    : markedSnippet(text, () => false, chars / 2);
  const offset = Math.max(0, offsetOf(shown.start) - LEAD_CHARS);
  const from = isHit && isCut && offset > 0 ? `, offset ${offset}` : "";
  return `${isHit ? ">" : " "} [${record.seq}${from}] ${who}: ${shown.text}`;
}

/** Returns a time to the minute, in UTC: `2026-05-01 10:00`. */
export function minuteOf(at: string): string {
  return at.slice(0, 16).replace("T", " ");
}

/** Estimates tokens, rather too many: words of English take few, digits, signs and other scripts take more. */
function estimatedTokens(text: string): number {
  let tokens = 0;
  for (const character of text)
    tokens += /[a-zA-Z ]/.test(character)
      ? 0.23
      : /[0-9]/.test(character)
        ? 0.45
        : character < "\x80"
          ? 0.55
          : 1;
  return tokens;
}
