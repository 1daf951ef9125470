import type { JsonObject, ModelRequest } from "@holdfast/core";
import type { AiSdkConfig } from "./ai-sdk-options.js";
import { type Dialect, dialectOf } from "./dialect.js";
import type { AiSdkModel, AiSdkUrls } from "./language-model.js";
import { buildPrompt } from "./prompt/build-prompt.js";
import { addCacheBreakpoints } from "./prompt/cache-breakpoints.js";
import { offeredTools } from "./prompt/offered-tools.js";
import type { PromptMessage, ProviderOptions } from "./prompt/prompt.js";
import { type Omissions, type PromptScope, toolCallIdsIn } from "./prompt/prompt-scope.js";

/** Options of `doStream` in a form that fits all generations; the prompt's parts differ by generation. */
export interface CallOptions {
  readonly prompt: readonly PromptMessage[];
  readonly providerOptions: ProviderOptions;
  readonly abortSignal: AbortSignal;
  readonly [setting: string]: unknown;
}

/** Everything the call options depend on besides the request. */
export interface ModelCallContext {
  readonly model: AiSdkModel;
  readonly config: AiSdkConfig;
  readonly owner: string;
  readonly supportedUrls: AiSdkUrls;
  readonly omit: Omissions;
  readonly signal: AbortSignal;
}

/** Returns the call options of a request. */
export function callOptions(request: ModelRequest, context: ModelCallContext): CallOptions {
  const { model, config, signal } = context;
  const dialect = dialectOf(model.provider);
  const providerOptions = statelessOptions(model.provider, dialect, config.providerOptions);
  const scope: PromptScope = {
    version: model.specificationVersion,
    dialect,
    owner: context.owner,
    supportedUrls: context.supportedUrls,
    storesReplies: Object.values(providerOptions).every(({ store }) => store !== false),
    omit: context.omit,
    toolCallIds: toolCallIdsIn(request.messages, dialect),
    toolNames: new Set(request.tools.map(({ name }) => name)),
  };
  const prompt = buildPrompt(request, scope);
  if (config.promptCache === "auto") addCacheBreakpoints(prompt, request.messages, dialect);
  const { reasoning, ...settings } = config.settings;
  const mayThink = dialect !== "anthropic" || canThink(prompt.messages);
  return {
    ...settings,
    ...(model.specificationVersion === "v4" &&
      reasoning !== undefined && { reasoning: mayThink ? reasoning : "none" }),
    ...offeredTools(request, prompt.messages, scope),
    ...(request.output !== undefined && {
      responseFormat: { type: "json", name: "output", schema: request.output },
    }),
    ...(config.headers !== undefined && { headers: config.headers }),
    prompt: prompt.messages,
    providerOptions: mayThink ? providerOptions : withoutThinking(providerOptions),
    // Pings show that a silent model is still working; they arrive as raw parts only.
    includeRawChunks: true,
    abortSignal: signal,
  };
}

/**
 * Turns off storage of responses at the provider: the session has its own store, and a request that refers to stored items
 * fails if they have expired, were never stored because a reply was cut off, or belong to another account.
 */
function statelessOptions(
  provider: string,
  dialect: Dialect,
  options: AiSdkConfig["providerOptions"],
): ProviderOptions {
  if (dialect !== "openai-responses") return options;
  const [name = ""] = provider.split(".");
  const merged: Record<string, JsonObject> = { ...options };
  // Packages read the namespace `openai`, or the one of their own name.
  for (const namespace of ["openai", /azure/i.test(provider) ? "azure" : name])
    merged[namespace] = { store: false, ...(merged[namespace] ?? options["openai"]) };
  return merged;
}

/**
 * Tells whether thinking may be on: Anthropic then wants an unfinished turn to start with thinking, which a turn of another
 * model does not. A turn spans all its calls and results, and not every step of it starts with thinking.
 */
function canThink(prompt: readonly PromptMessage[]): boolean {
  const last = prompt.findLastIndex(({ role }) => role === "assistant");
  if (!partTypes(prompt[last]).includes("tool-call")) return true;
  const before = prompt.findLastIndex(({ role }, index) => index < last && role === "user");
  return partTypes(prompt[before + 1])[0] === "reasoning";
}

function partTypes(message: PromptMessage | undefined): string[] {
  return message?.role === "assistant" ? message.content.map(({ type }) => type) : [];
}

function withoutThinking(options: ProviderOptions): ProviderOptions {
  const anthropic = options["anthropic"];
  const thinking = anthropic?.["thinking"] as JsonObject | undefined;
  if (thinking?.["type"] !== "enabled") return options;
  return { ...options, anthropic: { ...anthropic, thinking: { type: "disabled" } } };
}
