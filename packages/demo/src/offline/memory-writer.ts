import { type ModelRequest, textOf } from "@holdfast/core";
import { itemsIn, statementsIn } from "./extract.js";

/** Returns whether the long-term memory asks for the facts in part of a conversation. */
export function isFactRequest({ messages, tools }: ModelRequest): boolean {
  return tools.length === 0 && /\n<conversation\b[\s\S]*\bNOTHING\.$/.test(firstText(messages));
}

/** Lists what the user marked to be remembered and is not known yet; `NOTHING` where there is none. */
export function factsIn({ messages }: ModelRequest): string {
  const request = firstText(messages);
  const start = request.indexOf("\n<conversation");
  const known = new Set(itemsIn(request.slice(0, start)));
  const said = request
    .slice(start)
    .matchAll(/<message from="user"[^>]*>\n([\s\S]*?)\n<\/message>/g);
  const facts = [...said].flatMap(([, text]) => statementsIn(text as string));
  const fresh = [...new Set(facts)].filter((fact) => !known.has(fact));
  return fresh.length === 0 ? "NOTHING" : fresh.map((fact) => `- ${fact}`).join("\n");
}

/** Returns whether the long-term memory asks for its file to be rewritten. */
export function isMemoryRequest({ messages, tools }: ModelRequest): boolean {
  return tools.length === 0 && /^The memory as it is:\n[\s\S]*<notes\b/.test(firstText(messages));
}

/** Merges the facts of the old file and of the notes, in the order in which they came up. */
export function mergedMemory({ messages }: ModelRequest): string {
  const facts = itemsIn(firstText(messages)).map((fact) => `- ${fact}`);
  return ["# What is known", "", ...facts].join("\n");
}

function firstText(messages: ModelRequest["messages"]): string {
  return messages[0] === undefined ? "" : textOf(messages[0]);
}
