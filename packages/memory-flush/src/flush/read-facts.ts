import { cutIndex, type ModelAnswer } from "@holdfast/core/plugin-kit";
import { plainLine } from "../quote/plain-text.js";

const MAX_FACTS = 50;
const MAX_FACT_CHARS = 500;
const ITEM = /^\s*(?:[-*•+–]|\d{1,3}[.)])\s+(\S.*)$/su;

/** The facts in an answer: its list items, each once. What is no list is no memory. */
export function readFacts(answer: Pick<ModelAnswer, "text" | "isCutOff" | "isTooLong">): string[] {
  const lines = answer.text.split(/\r\n|\r|\n/);
  // Half a fact may say the opposite of the whole.
  if (answer.isCutOff || answer.isTooLong) lines.pop();
  const facts = new Set<string>();
  for (const line of lines) {
    const fact = plainLine(ITEM.exec(line)?.[1] ?? "");
    if (fact === "" || /^nothing\.?$/i.test(fact)) continue;
    facts.add(
      fact.length > MAX_FACT_CHARS ? `${fact.slice(0, cutIndex(fact, MAX_FACT_CHARS - 1))}…` : fact,
    );
    if (facts.size === MAX_FACTS) break;
  }
  return [...facts];
}
