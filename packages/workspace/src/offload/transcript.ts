import type { Block, DataBlock, Message } from "@holdfast/core";
import { isWellFormed } from "@holdfast/core/plugin-kit";

/** Stores the bytes of a data block and returns the path. */
export type KeepData = (block: DataBlock) => Promise<{ readonly path: string }>;

/**
 * Writes messages as Markdown that a person or a model can read and that loses nothing.
 *
 * Every message begins with `## <role> {…}`, every block with `### <type> {…}`, every part of a tool result with
 * `#### <type> {…}`; the braces contain all fields that are not shown below. `chars` is the length of the text below, so that
 * text which looks like a heading is still text; text that UTF-8 cannot encode is JSON (`"as": "json"`). The bytes of data
 * are in the file that `file` names.
 */
export async function transcript(messages: readonly Message[], keep: KeepData): Promise<string> {
  const parts = ["# Messages\n"];
  for (const { role, content, ...rest } of messages) {
    parts.push(`\n## ${role} ${JSON.stringify(rest)}\n`);
    for (const block of content) parts.push(await blockText("###", block, keep));
  }
  return parts.join("");
}

async function blockText(marks: string, block: Block, keep: KeepData): Promise<string> {
  switch (block.type) {
    case "text":
    case "thinking":
    case "hint": {
      const { type, text, ...rest } = block;
      return entry(marks, type, rest, text);
    }
    case "tool_call": {
      const { type, input, ...rest } = block;
      return entry(marks, type, rest, JSON.stringify(input, null, 2));
    }
    case "data":
      return dataText(marks, block, keep);
    case "tool_result": {
      const { type, output, ...rest } = block;
      const parts = [`\n${marks} ${type} ${JSON.stringify({ ...rest, parts: output.length })}\n`];
      for (const part of output) parts.push(await blockText(`${marks}#`, part, keep));
      return parts.join("");
    }
  }
}

async function dataText(marks: string, block: DataBlock, keep: KeepData): Promise<string> {
  if (block.source.kind === "url") {
    const { type, ...rest } = block;
    return `\n${marks} ${type} ${JSON.stringify(rest)}\n`;
  }
  const { type, source: _, ...rest } = block;
  const { path } = await keep(block);
  return `\n${marks} ${type} ${JSON.stringify({ ...rest, file: path })}\n`;
}

function entry(marks: string, type: string, fields: object, text: string): string {
  const isPlain = isWellFormed(text);
  const body = isPlain ? text : JSON.stringify(text);
  const header = { ...fields, chars: body.length, ...(isPlain ? {} : { as: "json" }) };
  return `\n${marks} ${type} ${JSON.stringify(header)}\n${body}\n`;
}
