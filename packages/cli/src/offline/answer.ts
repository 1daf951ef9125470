import type { JsonObject } from "@holdfast/core";
import { type Reply, say } from "./reply.js";
import type { Situation, Step } from "./situation.js";

/** Answers a phrase it knows; `match` is what the phrase's expression found. */
export type Answer = (situation: Situation, match: RegExpExecArray) => Reply;

/** A phrase and who answers it. */
export type Phrase = readonly [pattern: RegExp, answer: Answer];

/** Wants a tool, or says that it is not offered. */
export function useTool({ tools }: Situation, name: string, input: JsonObject): Reply {
  if (tools.has(name)) return { toolCalls: [{ name, input }] };
  return say(`I would use the tool ${name} for that, but I am not offered it here.`);
}

/** What a tool that failed or was refused said, in one line. */
export function failure({ name, text }: Step): Reply {
  return say(`${name} did not work: ${text.split("\n")[0]}`);
}

/** A path as it was written, without quotes and the mark at the end of the sentence. */
export function cleanPath(text: string): string {
  return text.replace(/^["'`]+|["'`]*[.,;:?!]*$/g, "");
}

/** A word with its number, such as `1 line` and `2 lines`. */
export function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}

/** The lines of a page of `read_file`, without their numbers. */
export function pageLines(page: string): string[] {
  return page.split("\n").map((line) => line.replace(/^\d+\t/, ""));
}

/** How many lines the file of a page has, by the note behind it. */
export function totalLines({ text }: Step): number {
  return Number(/\n\[Lines? \d+(?: to \d+)? of (\d+)/.exec(text)?.[1] ?? 0);
}
