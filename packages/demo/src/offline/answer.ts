import type { JsonObject } from "@holdfast/core";
import type { ParsedRequest, ToolStep } from "./parsed-request.js";

/** Tool call the script makes. */
export interface WantedCall {
  readonly name: string;
  readonly input: JsonObject;
}

/** Reply of the script: text, or the tools it needs first. */
export interface Reply {
  readonly text?: string | undefined;
  readonly toolCalls?: readonly WantedCall[] | undefined;
}

/** Phrase the script knows and the function that answers it, given the match of the pattern. */
export type Phrase = readonly [
  pattern: RegExp,
  answer: (request: ParsedRequest, match: RegExpExecArray) => Reply,
];

/** Replies with text. */
export function say(text: string): Reply {
  return { text };
}

/** Calls a tool, or says that the request does not offer it. */
export function useTool({ tools }: ParsedRequest, name: string, input: JsonObject): Reply {
  if (tools.has(name)) return { toolCalls: [{ name, input }] };
  return say(`I would use the tool ${name} for that, but I am not offered it here.`);
}

/** Quotes the first line of what a failed or refused tool said. */
export function failure({ name, text }: ToolStep): Reply {
  return say(`${name} did not work: ${text.split("\n")[0]}`);
}

/** Returns a path without quotes around it and punctuation behind it. */
export function cleanPath(text: string): string {
  return text.replace(/^["'`]+|["'`]*[.,;:?!]*$/g, "");
}

/** Formats a count: `1 line`, `2 lines`. */
export function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}

/** Returns the lines of a page of `read_file`, without their numbers. */
export function pageLines(page: string): string[] {
  return page.split("\n").map((line) => line.replace(/^\d+\t/, ""));
}

/** Returns the number of lines of the whole file, from the note behind a page of `read_file`. */
export function totalLines({ text }: ToolStep): number {
  return Number(/\n\[Lines? \d+(?: to \d+)? of (\d+)/.exec(text)?.[1] ?? 0);
}
