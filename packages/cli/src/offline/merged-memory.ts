import { type ModelRequest, textOf } from "@holdfast/core";
import { itemsOf } from "./items.js";

/** Whether long-term memory asks for its file to be written anew. */
export function isMemoryRequest({ messages, tools }: ModelRequest): boolean {
  const text = messages[0] === undefined ? "" : textOf(messages[0]);
  return tools.length === 0 && /^The memory as it is:\n[\s\S]*<notes\b/.test(text);
}

/** Every fact of the old file and of the notes once, in the order in which it came up. */
export function mergedMemory({ messages }: ModelRequest): string {
  const text = messages[0] === undefined ? "" : textOf(messages[0]);
  return ["# What is known", "", ...itemsOf(text).map((fact) => `- ${fact}`)].join("\n");
}
