import type { Message, TextBlock, ToolResultBlock } from "@holdfast/core";
import { toolResultsOf } from "@holdfast/core";
import type { ReplyFunction } from "@holdfast/testing";

/** The newest tool result in a list of messages. */
export function lastResult(messages: readonly Message[]): ToolResultBlock {
  const result = messages.flatMap(toolResultsOf).at(-1);
  if (!result) throw new Error("there is no tool result");
  return result;
}

/** The text blocks of a result. */
export function textsOf({ output }: ToolResultBlock): string[] {
  return output.filter((part): part is TextBlock => part.type === "text").map(({ text }) => text);
}

/** What {@link pagingModel} has put together so far. */
export interface PagedText {
  text: string;
  pages: number;
  /** Whether the last page ended within a line. */
  isCut: boolean;
}

/**
 * A model that calls a tool once and then reads what was left out of its result with `read_file`, page after page,
 * following nothing but what the results say.
 */
export function pagingModel(toolName: string, into: PagedText): ReplyFunction {
  let path: string | null = null;
  return ({ messages }) => {
    if (messages.flatMap(toolResultsOf).length === 0 && path === null)
      return { toolCalls: [{ name: toolName, input: {} }] };
    const [page = "", note = ""] = textsOf(lastResult(messages));
    if (path === null) {
      path = /read_file, path "([^"]+)"/.exec(page)?.[1] ?? null;
      if (path === null) throw new Error("the result does not say where the whole is");
      return { toolCalls: [{ name: "read_file", input: { path } }] };
    }
    const next = /Go on with offset (\d+)(?: and char_offset (\d+))?\./.exec(note);
    addPage(into, page, next?.[2] !== undefined);
    if (!next) return "I have read it all.";
    const input = { path, offset: Number(next[1]), char_offset: Number(next[2] ?? 0) };
    return { toolCalls: [{ name: "read_file", input }] };
  };
}

/** Rows without their numbers; a page that begins within a line goes on where the last one ended. */
function addPage(into: PagedText, page: string, isCut: boolean): void {
  const rows = page.split("\n").map((row) => row.slice(row.indexOf("\t") + 1));
  if (into.pages > 0 && !into.isCut) into.text += "\n";
  into.text += rows.join("\n");
  into.pages++;
  into.isCut = isCut;
}
