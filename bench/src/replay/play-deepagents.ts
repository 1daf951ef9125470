import { createDeepAgent, createSummarizationMiddleware, StateBackend } from "deepagents";
import { countTokensApproximately, createMiddleware } from "langchain";
import { systemPrompt } from "./airline-desk.js";
import { LangchainReplayModel } from "./langchain-model.js";
import {
  type LangchainAgent,
  langchainCheckpointer,
  langchainTools,
  playThread,
} from "./langchain-thread.js";
import { estimatePerToken } from "./langchain-tokens.js";
import type { Limits } from "./limits.js";
import { ReplayProvider } from "./replay-provider.js";
import type { Script } from "./script.js";

/** Setup of deepagents. */
export interface DeepagentsPlay {
  readonly script: Script;
  readonly provider: ReplayProvider;
  /** Left out: its own defaults, 85 % and 10 % of the window. */
  readonly limits?: Limits | undefined;
  /** Tokens of the comparable fixed part. */
  readonly fixedTokens: number;
}

type Middleware = ReturnType<typeof createMiddleware>;

/** Plays a script on `createDeepAgent`. */
export async function playDeepagents(play: DeepagentsPlay): Promise<void> {
  const { script, provider, limits } = play;
  const middleware = limits ? [await summarisingAt(limits, play)] : [];
  await playThread(deepAgent(script, provider, middleware), script);
}

/**
 * Its summarization, set to fire where the others do.
 *
 * It only knows an estimate by characters, and counts the tools and prompts it brings along. Both are taken into the
 * numbers, so that it may keep as much conversation as the others.
 */
async function summarisingAt(limits: Limits, play: DeepagentsPlay): Promise<Middleware> {
  const perToken = estimatePerToken(play.script);
  const conversation = (limits.triggerTokens - play.fixedTokens) * perToken;
  const fixed = await estimatedFixedPart(play);
  return createSummarizationMiddleware({
    backend: (config: ConstructorParameters<typeof StateBackend>[0]) => new StateBackend(config),
    trigger: { type: "tokens", value: Math.floor(conversation + fixed) },
    keep: { type: "tokens", value: Math.floor(limits.keepTokens * perToken) },
  }) as Middleware;
}

/** Estimates the tokens of its system prompt and tools, from a run of one turn. */
async function estimatedFixedPart({
  script,
  provider,
  fixedTokens,
}: DeepagentsPlay): Promise<number> {
  const turns = [{ users: ["Hello."], replies: [{ text: "Hello.", calls: [] }] }];
  const greeting: Script = { ...script, turns };
  let estimate = 0;
  const probe = createMiddleware({
    name: "Probe",
    wrapModelCall(request, handler) {
      const tools = request.tools as Parameters<typeof countTokensApproximately>[1];
      estimate = countTokensApproximately([request.systemMessage], tools);
      return handler(request);
    },
  });
  const room = new ReplayProvider({
    script: greeting,
    window: provider.window,
    comparableFixedTokens: fixedTokens,
  });
  await playThread(deepAgent(greeting, room, [probe as Middleware]), greeting);
  return estimate;
}

function deepAgent(
  script: Script,
  provider: ReplayProvider,
  middleware: readonly Middleware[],
): LangchainAgent {
  return createDeepAgent({
    model: new LangchainReplayModel(provider),
    tools: langchainTools(script, provider),
    systemPrompt,
    checkpointer: langchainCheckpointer(),
    middleware: [...middleware],
  }) as unknown as LangchainAgent;
}
