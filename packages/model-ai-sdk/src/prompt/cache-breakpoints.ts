import type { Message } from "@holdfast/core";
import type { Dialect } from "../dialect.js";
import type { BuiltPrompt } from "./build-prompt.js";
import type { ProviderOptions } from "./prompt.js";

/** Options that make a provider cache everything up to a message. */
const breakpoints: Partial<Record<Dialect, ProviderOptions>> = {
  anthropic: { anthropic: { cacheControl: { type: "ephemeral" } } },
  bedrock: { bedrock: { cachePoint: { type: "default" } } },
};

/**
 * Sets up to four cache breakpoints, for providers that do not cache by themselves: after the system prompt, the summary, the
 * last lasting message (hints at the end change from step to step), and the message that ended the previous request, so that
 * its cache is found however much was added since.
 */
export function addCacheBreakpoints(
  prompt: BuiltPrompt,
  messages: readonly Message[],
  dialect: Dialect,
): void {
  const mark = breakpoints[dialect];
  if (mark === undefined) return;
  const lasting = messages.filter((message) => prompt.places.has(message) && !isHints(message));
  const lastReply = lasting.findLastIndex(({ role }) => role === "assistant");
  const places = [lasting.at(-1), lastReply > 0 ? lasting[lastReply - 1] : undefined]
    .concat(messages.find(isSummary))
    .map((message) => message && prompt.places.get(message));
  if (prompt.messages[0]?.role === "system") places.push(0);
  for (const place of new Set(places)) {
    const message = place === undefined ? undefined : prompt.messages[place];
    if (message !== undefined) message.providerOptions = mark;
  }
}

function isHints({ content }: Message): boolean {
  return content.every((block) => block.type === "hint" && block.source !== "summary");
}

function isSummary({ content }: Message): boolean {
  return content.some((block) => block.type === "hint" && block.source === "summary");
}
