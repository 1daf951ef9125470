import type { Usage } from "@holdfast/core";
import { isRecord } from "@holdfast/core/plugin-kit";
import type { SpecVersion } from "../language-model.js";
import { metadataField, readMetadata } from "../provider-metadata.js";

/** End of a reply, in the same form for all generations. */
export interface ReplyFinish {
  /** `interrupted`: the provider did not say that the reply is complete. `unsaid`: it gave no reason. */
  readonly reason:
    | "stop"
    | "length"
    | "content-filter"
    | "tool-calls"
    | "error"
    | "interrupted"
    | "unsaid"
    | "other";
  /** The provider's own reason; V2 does not have it. */
  readonly raw: string | undefined;
  readonly usage: Usage;
  /** True if the provider reported any usage. */
  readonly hasUsage: boolean;
}

const reasons: Readonly<Record<string, ReplyFinish["reason"]>> = {
  stop: "stop",
  length: "length",
  "content-filter": "content-filter",
  "tool-calls": "tool-calls",
  error: "error",
  interrupted: "interrupted",
  unknown: "unsaid",
  other: "other",
};

/** Reads a `finish` part. */
export function finishOf(
  part: Readonly<Record<string, unknown>>,
  version: SpecVersion,
): ReplyFinish {
  const finish = part["finishReason"];
  const raw = isRecord(finish) && typeof finish["raw"] === "string" ? finish["raw"] : undefined;
  const word = String(isRecord(finish) ? finish["unified"] : finish);
  const reason = reasonOf(word, raw, isRecord(finish));
  const counts = version === "v2" ? flatUsage(part) : nestedUsage(part["usage"]);
  const { input, output, cached } = counts;
  return {
    reason,
    raw,
    hasUsage: input !== undefined || output !== undefined,
    usage: {
      inputTokens: input ?? 0,
      outputTokens: output ?? 0,
      ...(cached !== undefined && { cachedInputTokens: cached }),
    },
  };
}

/** V3 and V4 use "other" both for an unknown reason and for none; the provider's own reason tells which. */
function reasonOf(word: string, raw: string | undefined, tellsRaw: boolean): ReplyFinish["reason"] {
  const reason = Object.hasOwn(reasons, word) ? (reasons[word] ?? "other") : "other";
  if (reason !== "other" || !tellsRaw) return reason;
  if (raw === undefined) return "unsaid";
  return isErrorWord(raw) ? "error" : "other";
}

/** Tells whether a provider's finish reason means failure; OpenRouter sends it in the middle of a reply. */
export function isErrorWord(raw: string): boolean {
  return /^error$/i.test(raw);
}

interface Counts {
  readonly input: number | undefined;
  readonly output: number | undefined;
  readonly cached: number | undefined;
}

function nestedUsage(usage: unknown): Counts {
  const { inputTokens, outputTokens } = isRecord(usage) ? usage : {};
  const input = isRecord(inputTokens) ? inputTokens : {};
  const output = isRecord(outputTokens) ? outputTokens : {};
  return {
    input: count(input["total"]) ?? sum(input["noCache"], input["cacheRead"], input["cacheWrite"]),
    output: count(output["total"]) ?? sum(output["text"], output["reasoning"]),
    cached: count(input["cacheRead"]),
  };
}

/** In V2 each provider decides what its counts include; Holdfast's include everything. */
function flatUsage(part: Readonly<Record<string, unknown>>): Counts {
  const usage = isRecord(part["usage"]) ? part["usage"] : {};
  const metadata = readMetadata(part["providerMetadata"]);
  const cached = count(usage["cachedInputTokens"]);
  let input = count(usage["inputTokens"]);
  let output = count(usage["outputTokens"]);
  // Anthropic counts cache reads and writes separately.
  const written = count(metadataField(metadata, "cacheCreationInputTokens"));
  const isAnthropic = metadata !== undefined && "anthropic" in metadata;
  if (isAnthropic && input !== undefined) input += (cached ?? 0) + (written ?? 0);
  // Google counts thoughts separately, which shows in the total; that may include results of its own tools too.
  const thoughts = count(usage["reasoningTokens"]) ?? 0;
  const total = count(usage["totalTokens"]) ?? 0;
  if (input !== undefined && output !== undefined && total >= input + output + thoughts)
    output += thoughts;
  return { input, output, cached };
}

function count(value: unknown): number | undefined {
  return typeof value === "number" && value >= 0 && Number.isFinite(value)
    ? Math.round(value)
    : undefined;
}

function sum(...values: readonly unknown[]): number | undefined {
  const counts = values.map(count).filter((value) => value !== undefined);
  return counts.length === 0 ? undefined : counts.reduce((total, value) => total + value, 0);
}
