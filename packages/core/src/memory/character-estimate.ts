import type { Block, Message } from "../message/message.js";
import type { ToolSchema } from "../ports/model.js";
import type { TokenCounter } from "../ports/token-counter.js";

/** What role, separators and ids of a message cost. */
const MESSAGE_OVERHEAD = 4;
/** What providers charge for an image of common size. */
const IMAGE_TOKENS = 1_200;

/**
 * Estimates tokens from characters: four ASCII characters, two of other alphabets, or one of Chinese, Japanese and
 * Korean make a token. Needs no vocabulary; each message is measured once.
 *
 * @example
 * const counter = characterEstimate();
 * counter.countText("four characters make one");
 */
export function characterEstimate(): TokenCounter {
  const messageTokens = new WeakMap<Message, number>();
  const toolTokens = new WeakMap<ToolSchema, number>();
  return {
    id: "character-estimate",
    countText: estimate,
    countMessages: (messages) => sum(messages, messageTokens, tokensOfMessage),
    countTools: (tools) => sum(tools, toolTokens, tokensOfTool),
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

function tokensOfMessage(message: Message): number {
  return message.content.reduce((total, block) => total + tokensOfBlock(block), MESSAGE_OVERHEAD);
}

function tokensOfTool(schema: ToolSchema): number {
  return (
    estimate(schema.name) +
    estimate(schema.description) +
    estimate(JSON.stringify(schema.inputSchema))
  );
}

function tokensOfBlock(block: Block): number {
  switch (block.type) {
    case "text":
    case "thinking":
    case "hint":
      return estimate(block.text);
    case "data":
      return block.source.kind === "url" || block.mediaType.startsWith("image/")
        ? IMAGE_TOKENS
        : estimate(block.source.data);
    case "tool_call":
      return estimate(block.name) + estimate(JSON.stringify(block.input));
    case "tool_result":
      return block.output.reduce(
        (total, part) => total + tokensOfBlock(part),
        estimate(block.name),
      );
  }
}

function estimate(text: string): number {
  let quarters = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    // From U+2E80 on: CJK, Hangul and full-width forms, and the surrogates emoji are made of.
    quarters += unit < 0x80 ? 1 : unit < 0x2e80 ? 2 : 4;
  }
  return Math.ceil(quarters / 4);
}
