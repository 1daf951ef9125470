import { type ModelRequest, textOf } from "@holdfast/core";
import { itemsOf } from "./items.js";
import { statementsIn } from "./statements.js";

/** Whether long-term memory asks for the facts in a part of a conversation. */
export function isFactRequest({ messages, tools }: ModelRequest): boolean {
  return tools.length === 0 && /\n<conversation\b[\s\S]*\bNOTHING\.$/.test(requestText(messages));
}

/** What the user marked as lasting and is not known yet, as a list; `NOTHING` where there is none. */
export function factsIn({ messages }: ModelRequest): string {
  const request = requestText(messages);
  const start = request.indexOf("\n<conversation");
  const known = new Set(itemsOf(request.slice(0, start)));
  const said = request
    .slice(start)
    .matchAll(/<message from="user"[^>]*>\n([\s\S]*?)\n<\/message>/g);
  const facts = [...said].flatMap(([, text]) => statementsIn(text as string));
  const fresh = [...new Set(facts)].filter((fact) => !known.has(fact));
  return fresh.length === 0 ? "NOTHING" : fresh.map((fact) => `- ${fact}`).join("\n");
}

function requestText(messages: ModelRequest["messages"]): string {
  return messages[0] === undefined ? "" : textOf(messages[0]);
}
