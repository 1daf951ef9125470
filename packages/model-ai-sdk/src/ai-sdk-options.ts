import type { JsonObject } from "@holdfast/core";
import { showValue } from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";
import type { AiSdkModel } from "./language-model.js";

/** Sampling settings; a provider's package ignores those that it does not support. */
export interface AiSdkSettings {
  readonly maxOutputTokens?: number | undefined;
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly topK?: number | undefined;
  readonly presencePenalty?: number | undefined;
  readonly frequencyPenalty?: number | undefined;
  readonly stopSequences?: readonly string[] | undefined;
  readonly seed?: number | undefined;
  /** Reasoning effort; V4 packages only, others take it in `providerOptions`. */
  readonly reasoning?:
    | "provider-default"
    | "none"
    | "minimal"
    | "low"
    | "medium"
    | "high"
    | "xhigh"
    | "max"
    | undefined;
}

/** Configuration of `fromAiSdk`. */
export interface AiSdkOptions {
  /** Id of the model in events, errors and logs. @default "<provider>/<modelId>" */
  readonly id?: string | undefined;
  /** Size of the model's window in tokens; AI SDK packages do not provide it. @default unknown */
  readonly contextWindow?: number | undefined;
  /** Settings of every request. @default the provider's own */
  readonly settings?: AiSdkSettings | undefined;
  /** Options of the provider's package, by its namespace, sent with every request. */
  readonly providerOptions?: Readonly<Record<string, JsonObject>> | undefined;
  /** HTTP headers sent with every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** `auto` sets cache breakpoints for providers that need them (Anthropic, Bedrock). @default "auto" */
  readonly promptCache?: "auto" | "off" | undefined;
  /** Further error messages that mean that a request is longer than the window. @default none */
  readonly overflowPatterns?: readonly RegExp[] | undefined;
  /** Let the provider enforce a schema for the reply; otherwise the agent uses a tool. @default false */
  readonly structuredOutput?: boolean | undefined;
  /** Time to wait for the first part of a reply. @default 300_000 */
  readonly firstChunkTimeoutMs?: number | undefined;
  /** Time without any part, not even a ping, after which the connection counts as dead. @default 300_000 */
  readonly idleTimeoutMs?: number | undefined;
}

/** {@link AiSdkOptions} with defaults filled in. */
export interface AiSdkConfig {
  readonly id?: string | undefined;
  readonly contextWindow?: number | undefined;
  readonly settings: AiSdkSettings;
  readonly providerOptions: Readonly<Record<string, JsonObject>>;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly promptCache: "auto" | "off";
  readonly overflowPatterns: readonly RegExp[];
  readonly structuredOutput: boolean;
  readonly firstChunkTimeoutMs: number;
  readonly idleTimeoutMs: number;
}

const penalty = s.number().min(-2).max(2);
const timeout = s.number().positive().default(300_000);

const settings: s.Schema<AiSdkSettings> = s.strictObject({
  maxOutputTokens: s.int().positive().optional(),
  temperature: s.number().min(0).optional(),
  topP: s.number().min(0).max(1).optional(),
  topK: s.int().positive().optional(),
  presencePenalty: penalty.optional(),
  frequencyPenalty: penalty.optional(),
  stopSequences: s.array(s.string().min(1)).optional(),
  seed: s.int().optional(),
  reasoning: s
    .enum(["provider-default", "none", "minimal", "low", "medium", "high", "xhigh", "max"])
    .optional(),
});

/** Schema of {@link AiSdkOptions}. */
export const aiSdkOptions: s.Schema<AiSdkConfig> = s.strictObject({
  id: s.string().min(1).optional(),
  contextWindow: s.int().positive().optional(),
  settings: settings.default({}),
  providerOptions: s.record(s.string(), s.record(s.string(), s.json())).default({}),
  headers: s.record(s.string(), s.string()).optional(),
  promptCache: s.enum(["auto", "off"]).default("auto"),
  overflowPatterns: s.array(s.instanceOf(RegExp)).default([]),
  structuredOutput: s.boolean().default(false),
  firstChunkTimeoutMs: timeout,
  idleTimeoutMs: timeout,
});

/** Returns what is wrong with a model object and what to pass instead; null for a valid one. */
export function modelProblem(model: unknown): string | null {
  const instead = `pass the model object of an AI SDK provider package, for example anthropic("…") of @ai-sdk/anthropic`;
  if (typeof model === "string")
    return `fromAiSdk: the model is the text ${JSON.stringify(model.slice(0, 64))}, and a bare id names no provider: ${instead}`;
  if ((typeof model !== "object" && typeof model !== "function") || model === null)
    return `fromAiSdk: the model is ${model === null ? "null" : typeof model}: ${instead}`;
  if (isThenable(model)) return `fromAiSdk: the model is a promise: await it first`;
  const {
    specificationVersion: version,
    provider,
    modelId,
    doStream,
  } = model as Partial<AiSdkModel>;
  if (version !== "v2" && version !== "v3" && version !== "v4")
    return version === undefined
      ? `fromAiSdk: the model has no specificationVersion${typeof model === "function" ? " (a provider is a function: call it with a model id)" : ""}: ${instead}`
      : `fromAiSdk: the model's specificationVersion is ${showValue(version)}, and v2, v3 and v4 are known: use a version of its package for AI SDK 5, 6 or 7`;
  if (typeof doStream !== "function" || typeof provider !== "string" || typeof modelId !== "string")
    return `fromAiSdk: the model has no doStream, provider or modelId, so it is no language model: ${instead}`;
  return null;
}

function isThenable(value: object): boolean {
  return "then" in value && typeof value.then === "function";
}
