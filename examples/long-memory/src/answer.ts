import type { ModelRequest } from "@holdfast/core";
import { textOf } from "@holdfast/core";
import { factsIn } from "./facts-in.js";

/**
 * The assistant's side, as a script: a question is answered from what the prompt says is remembered and from nothing else,
 * anything else is acknowledged.
 */
export function answer({ system, messages }: ModelRequest): string {
  const last = messages.at(-1);
  const asked = last === undefined ? "" : textOf(last);
  if (!asked.trim().endsWith("?")) return "All right, noted.";
  const wanted = wordsOf(asked);
  const known = factsIn(
    /<memory source="MEMORY\.md">\n([\s\S]*?)<\/memory>/.exec(system)?.[1] ?? "",
  );
  const fitting = known.filter((fact) => wordsOf(fact).some((word) => wanted.includes(word)));
  return fitting.length === 0
    ? "I do not know anything about that yet."
    : `As far as I remember: ${fitting.join(" ")}`;
}

/** Words that say something: names, and what is longer than three letters. */
function wordsOf(text: string): string[] {
  const words = text.toLowerCase().match(/\p{L}{4,}|\b[\p{L}]{3}\b/gu) ?? [];
  return words.filter((word) => !common.has(word));
}

const common = new Set(
  "and are but for has have her him his how keep mind must not our said she that the this user was what when where who will with you your".split(
    " ",
  ),
);
