import type { TokenCounter } from "@holdfast/core";
import { cutIndex } from "@holdfast/core/plugin-kit";
import { cutSection, type Section, wholeSection } from "./section.js";

/** Upper bound of the characters per token in normal text: bodies beyond it are not counted whole. */
const CHARS_PER_TOKEN = 16;

/**
 * Joins sections into one text of at most `maxTokens`. Each gets a fair share; what one does not need goes to the others. A
 * section that does not fit is cut, with a note; one that does not fit even then is left out.
 */
export function fitSections(
  sections: readonly Section[],
  maxTokens: number,
  counter: TokenCounter,
): string {
  const count = (text: string): number => counter.countText(text);
  // Joined texts may take a few tokens more than the sum of their parts.
  for (let budget = maxTokens; budget > 0; ) {
    const text = fit(sections, budget, count).join("");
    const excess = count(text) - maxTokens;
    if (excess <= 0) return text;
    budget -= excess;
  }
  return "";
}

type Count = (text: string) => number;

function fit(sections: readonly Section[], budget: number, count: Count): string[] {
  const wants = sections.map((section) =>
    section.body.length > budget * CHARS_PER_TOKEN
      ? Number.MAX_SAFE_INTEGER
      : count(wholeSection(section)),
  );
  const shares = fairShares(wants, budget);
  return sections.map((section, index) => {
    const share = shares[index] as number;
    return (wants[index] as number) <= share
      ? wholeSection(section)
      : (fitSection(section, share, count) ?? "");
  });
}

/** Divides a budget max-min fairly: no share exceeds its want, and all shares that fall short are equal. */
export function fairShares(wants: readonly number[], budget: number): number[] {
  const shares = wants.map(() => 0);
  const order = wants.map((_, index) => index).sort((a, b) => (wants[a] ?? 0) - (wants[b] ?? 0));
  let left = budget;
  for (const [place, index] of order.entries()) {
    const share = Math.min(wants[index] ?? 0, Math.floor(left / (order.length - place)));
    shares[index] = share;
    left -= share;
  }
  return shares;
}

/** Finds the longest beginning of a section that fits, by bisection. */
function fitSection(section: Section, tokens: number, count: Count): string | null {
  const { body, isList, cutNote } = section;
  if (cutNote === undefined) return null;
  const cut = (chars: number): string => {
    const newline = body.lastIndexOf("\n", chars - 1) + 1;
    const atLine = isList || newline > chars / 2;
    return cutSection(section, chars === 0 ? 0 : atLine ? newline : cutIndex(body, chars), cutNote);
  };
  let best: string | null = null;
  let low = 0;
  let high = Math.min(body.length, tokens * CHARS_PER_TOKEN);
  while (low <= high) {
    const middle = (low + high) >> 1;
    const candidate = cut(middle);
    if (count(candidate) <= tokens) {
      best = candidate;
      low = middle + 1;
    } else high = middle - 1;
  }
  return best;
}
