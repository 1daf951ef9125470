import type { ModelRequest } from "@holdfast/core";
import { textOf } from "@holdfast/core";
import { factsIn } from "./facts-in.js";

/**
 * The note taker's side, as a script. It is asked for two things: the facts in a piece of conversation, and a memory made of
 * the old one and new notes. A real model does both with more sense.
 */
export function takeNotes({ messages }: ModelRequest): string {
  const request = messages[0] === undefined ? "" : textOf(messages[0]);
  return request.includes("<conversation") ? factsOf(request) : mergedMemory(request);
}

/** Every sentence of the user that is no question. */
function factsOf(request: string): string {
  const known = new Set(factsIn(request));
  const facts = [...request.matchAll(/<message from="user"[^>]*>\n([\s\S]*?)\n<\/message>/g)]
    .flatMap(([, text]) => text?.match(/[^.?!]+[.?!]/g) ?? [])
    .map((sentence) => sentence.trim())
    .filter((sentence) => !sentence.endsWith("?") && !known.has(sentence));
  return facts.length === 0 ? "NOTHING" : facts.map((fact) => `- ${fact}`).join("\n");
}

/** Every fact once, in the order in which it came up. */
function mergedMemory(request: string): string {
  return [
    "# What the user told me",
    "",
    ...new Set(factsIn(request).map((fact) => `- ${fact}`)),
  ].join("\n");
}
