import type { Block, Message, ToolSchema } from "@holdfast/core";
import { countTokens, decode, encode } from "gpt-tokenizer/encoding/o200k_base";

/** Text that looks like a special token is just text. */
const asText = { disallowedSpecial: new Set<string>() };

/** Tokens that OpenAI adds per message for its borders, beside its role. */
const perMessage = 2;

/** Tokens that it adds per request for the beginning of the reply. */
export const replyTokens = 3;

/** Tokens of `text` (o200k_base). */
export function tokensOf(text: string): number {
  return countTokens(text, asText);
}

/** Tokens of a message written by {@link writeMessage}. */
export function messageTokens(written: string): number {
  return tokensOf(written) + perMessage;
}

/** `count`, which remembers what it counted: the same messages come in every request. */
export function remembering(count: (text: string) => number): (text: string) => number {
  const known = new Map<string, number>();
  return (text) => {
    const tokens = known.get(text) ?? count(text);
    known.set(text, tokens);
    return tokens;
  };
}

/** The first `count` tokens of `text`. */
export function firstTokens(text: string, count: number): string {
  return decode(encode(text, asText).slice(0, count));
}

/**
 * A message as all who are compared are counted. Ids are left out, since each makes its own and they say nothing to a
 * model.
 */
export function writeMessage(message: Message): string {
  return [message.role, ...message.content.map(writeBlock)].join("\n");
}

/** Writes what stands in front of every message, in the same way for all. */
export function writeFixedPart(system: string, tools: readonly ToolSchema[]): string {
  if (system === "" && tools.length === 0) return "";
  const schemas = tools.map(({ name, description, inputSchema }) =>
    JSON.stringify({ name, description, parameters: inputSchema }),
  );
  return ["system", system, ...schemas].join("\n");
}

function writeBlock(block: Block): string {
  switch (block.type) {
    case "tool_call":
      return `${block.name} ${JSON.stringify(block.input)}`;
    case "tool_result":
      return [block.name, ...block.output.map(writeBlock)].join("\n");
    case "data":
      return block.mediaType;
    default:
      return block.text;
  }
}
