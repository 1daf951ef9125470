import type { JsonValue, Message } from "@holdfast/core";
import { adoptMessage, isRecord } from "@holdfast/core/plugin-kit";
import type { TruncateArgs } from "../compaction-options.js";
import { clipText } from "./clip-text.js";
import { cuttable } from "./cuts.js";

/** Metadata key of a message whose tool calls were clipped. */
const CLIPPED = "truncatedArgs";

/** Facts about a context that {@link truncateArguments} needs besides its messages. */
interface ContextState {
  /** Tokens of the whole request as it is now. */
  readonly tokens: number;
  readonly urgent: boolean;
  /** Ids of tool calls without a result. */
  readonly openCalls: ReadonlySet<string>;
}

/**
 * Clips long string arguments of old tool calls; returns the same array if there is nothing to do.
 *
 * Rewriting old messages invalidates the provider's prompt cache from the first of them on. So the boundary moves in large
 * steps: it moves again only if there is something to clip `keepMessages` messages before it, or if the context is over its
 * trigger (`urgent`) and clipping may avoid a summary. It never passes an open call, whose arguments are still to be used.
 */
export function truncateArguments(
  messages: readonly Message[],
  options: TruncateArgs,
  { tokens, urgent, openCalls }: ContextState,
): readonly Message[] {
  if (messages.length < options.triggerMessages && tokens < options.triggerTokens) return messages;
  const firstOpen =
    openCalls.size === 0 ? messages.length : cuttable(messages, openCalls).lastIndexOf(true);
  const boundary = Math.min(messages.length - options.keepMessages, firstOpen);
  const before = messages.slice(0, Math.max(0, boundary));
  const first = before.findIndex((message) => isTooLong(message, options.maxArgLength));
  if (first < 0) return messages;
  const isFirstTime = !messages.some(({ metadata }) => metadata?.[CLIPPED] === true);
  if (!isFirstTime && !urgent && boundary - first < options.keepMessages) return messages;
  return messages.map((message, index) =>
    index < boundary && isTooLong(message, options.maxArgLength)
      ? clipped(message, options)
      : message,
  );
}

/** Length of the longest string argument in a message; cached, because every step asks about every message. */
const longest = new WeakMap<Message, number>();

function isTooLong(message: Message, maxChars: number): boolean {
  let chars = longest.get(message);
  if (chars === undefined) {
    chars = 0;
    for (const block of message.content)
      if (block.type === "tool_call") chars = Math.max(chars, longestString(block.input));
    longest.set(message, chars);
  }
  return chars > maxChars;
}

function longestString(value: JsonValue): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce<number>(
    (most, child) => Math.max(most, longestString(child)),
    0,
  );
}

function clipped(message: Message, { maxArgLength, truncationText }: TruncateArgs): Message {
  return adoptMessage({
    ...message,
    content: message.content.map((block) =>
      block.type === "tool_call"
        ? { ...block, input: clipStrings(block.input, maxArgLength, truncationText) }
        : block,
    ),
    metadata: { ...message.metadata, [CLIPPED]: true },
  });
}

function clipStrings(value: JsonValue, maxChars: number, between: string): JsonValue {
  if (typeof value === "string") return clipText(value, maxChars, between);
  if (Array.isArray(value)) return value.map((child) => clipStrings(child, maxChars, between));
  if (!isRecord(value)) return value;
  // fromEntries defines properties, so "__proto__" stays a key like any other.
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [
      key,
      clipStrings(child as JsonValue, maxChars, between),
    ]),
  );
}
