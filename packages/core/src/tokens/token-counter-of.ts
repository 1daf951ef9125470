import type { Block, DataBlock, Message } from "../message/message.js";
import type { ToolSchema } from "../ports/model.js";
import type { TokenCounter } from "../ports/token-counter.js";

/** Options of {@link tokenCounterOf}. */
export interface TextTokenCounter {
  /** Name of the counter, for example `tiktoken:o200k_base`. */
  readonly id: string;
  /** Counts the tokens of a text: deterministic, never throws, 0 for the empty text. */
  readonly countText: (text: string) => number;
}

/** Tokens for role, separators and ids of a message. */
const MESSAGE_OVERHEAD = 4;
/** Tokens that providers charge for an image of common size; a URL counts as one, since its size is unknown. */
const IMAGE_TOKENS = 1_200;
/** Other files are charged by page or second, roughly by size: a page of a PDF has some 50 kB and 2,000 tokens. */
const FILE_CHARS_PER_TOKEN = 32;

/**
 * Makes a {@link TokenCounter} of a function that counts text.
 *
 * Counts of messages and tool schemas are cached for as long as the objects live, and that of the last text given to
 * `countText`, which is usually the same system prompt.
 *
 * @example
 * const counter = tokenCounterOf({ id: "words", countText: (text) => text.split(/\s+/).length });
 * counter.countMessages([userMessage("counted once")]);
 */
export function tokenCounterOf({ id, countText }: TextTokenCounter): TokenCounter {
  const messageTokens = new WeakMap<Message, number>();
  const toolTokens = new WeakMap<ToolSchema, number>();
  let lastText = "";
  let lastCount = 0;
  return {
    id,
    countText(text) {
      if (text !== lastText) {
        lastCount = countText(text);
        lastText = text;
      }
      return lastCount;
    },
    countMessages: (messages) =>
      sum(messages, messageTokens, ({ content }) =>
        content.reduce((total, block) => total + tokensOfBlock(block, countText), MESSAGE_OVERHEAD),
      ),
    countTools: (tools) =>
      sum(
        tools,
        toolTokens,
        ({ name, description, inputSchema }) =>
          countText(name) + countText(description) + countText(JSON.stringify(inputSchema)),
      ),
  };
}

function sum<T extends object>(
  items: readonly T[],
  known: WeakMap<T, number>,
  count: (item: T) => number,
): number {
  let total = 0;
  for (const item of items) {
    let tokens = known.get(item);
    if (tokens === undefined) {
      tokens = count(item);
      known.set(item, tokens);
    }
    total += tokens;
  }
  return total;
}

function tokensOfBlock(block: Block, countText: TextTokenCounter["countText"]): number {
  switch (block.type) {
    case "text":
    case "thinking":
    case "hint":
      return countText(block.text);
    case "data":
      return tokensOfData(block, countText);
    case "tool_call":
      return countText(block.name) + countText(JSON.stringify(block.input));
    case "tool_result":
      return block.output.reduce(
        (total, part) => total + tokensOfBlock(part, countText),
        countText(block.name),
      );
  }
}

function tokensOfData(
  { mediaType, source }: DataBlock,
  countText: TextTokenCounter["countText"],
): number {
  if (source.kind === "url" || mediaType.startsWith("image/")) return IMAGE_TOKENS;
  if (isText(mediaType)) return countText(Buffer.from(source.data, "base64").toString("utf8"));
  return Math.max(IMAGE_TOKENS, Math.ceil(source.data.length / FILE_CHARS_PER_TOKEN));
}

function isText(mediaType: string): boolean {
  return mediaType.startsWith("text/") || /[/+](json|xml|yaml)\b/.test(mediaType);
}
