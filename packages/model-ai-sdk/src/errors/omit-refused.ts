import type { Message } from "@holdfast/core";
import type { Omissions } from "../prompt/prompt-scope.js";
import { metadataFor } from "../provider-metadata.js";
import { errorFacts, hasSdkMarker } from "./error-facts.js";

/** Matches refusals because of signatures, item ids or encrypted reasoning. */
const metadataWords =
  /signature|input\[\d+\]\.(id|encrypted)|thinking.{0,20}block|redacted_thinking|encrypted.content|item (found )?with id|item_reference|required (following|'?reasoning)|reasoning.{0,20}item|reasoning_content/i;
const mediaWords = /image|media.?type|mime.?type|document|\bpdf\b|audio|video|\bfile\b/i;

/**
 * Returns what to leave out after a provider refused a request as invalid; null if nothing in it explains the refusal.
 *
 * A session outlives keys, models and a provider's stored items. A signature that is no longer accepted, or a file that the
 * model does not support, must not end it: every later request would be refused for the same reason.
 */
export function omitRefused(
  error: unknown,
  omitted: Omissions,
  messages: readonly Message[],
  owner: string,
): Omissions | null {
  const { words } = errorFacts(error);
  const { media } = omitted;
  const types = media === "all" ? new Set<string>() : mediaTypesIn(messages);
  if (hasSdkMarker(error, "AI_UnsupportedFunctionalityError")) {
    if (media === "all" || types.size === 0) return null;
    const fresh = [...types].filter((type) => words.includes(type) && !media.has(type));
    return { ...omitted, media: fresh.length > 0 ? new Set([...media, ...fresh]) : "all" };
  }
  if (!omitted.metadata && metadataWords.test(words) && hasMetadata(messages, owner))
    return { ...omitted, metadata: true };
  return types.size > 0 && mediaWords.test(words) ? { ...omitted, media: "all" } : null;
}

function hasMetadata(messages: readonly Message[], owner: string): boolean {
  return messages.some(({ content }) =>
    content.some((block) => "providerMetadata" in block && metadataFor(owner, block) !== undefined),
  );
}

function mediaTypesIn(messages: readonly Message[]): Set<string> {
  const types = new Set<string>();
  for (const { content } of messages)
    for (const block of content) {
      if (block.type === "data") types.add(block.mediaType);
      if (block.type === "tool_result")
        for (const part of block.output) if (part.type === "data") types.add(part.mediaType);
    }
  return types;
}
