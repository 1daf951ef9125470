import { type AgentMiddleware, createAgent, summarizationMiddleware } from "langchain";
import { systemPrompt } from "./airline-desk.js";
import { LangchainReplayModel } from "./langchain-model.js";
import {
  type LangchainAgent,
  langchainCheckpointer,
  langchainTools,
  playThread,
} from "./langchain-thread.js";
import { langchainCounter } from "./langchain-tokens.js";
import type { Limits } from "./limits.js";
import type { ReplayProvider } from "./replay-provider.js";
import type { Script } from "./script.js";

/** Setup of LangChain's summarization middleware. */
export interface LangchainPlay {
  readonly script: Script;
  readonly provider: ReplayProvider;
  /** Left out: its own defaults. It has none for the trigger, so it gets that of deepagents, 85 % of the window. */
  readonly limits?: Limits | undefined;
  /** Tokens of the comparable fixed part, which it does not count against its trigger. */
  readonly fixedTokens: number;
  /** Newest tokens of what is dropped that the summariser gets to see. @default its own, 4,000 */
  readonly summarisedTokens?: number | undefined;
}

/** Its type does not go together with `exactOptionalPropertyTypes`. */
const summarization = summarizationMiddleware as unknown as (
  options: Record<string, unknown>,
) => AgentMiddleware;

/** Plays a script on `createAgent` with `summarizationMiddleware`. */
export async function playLangchain(play: LangchainPlay): Promise<void> {
  const { script, provider, limits, fixedTokens, summarisedTokens } = play;
  const model = new LangchainReplayModel(provider);
  const agent = createAgent({
    model,
    tools: langchainTools(script, provider),
    systemPrompt,
    checkpointer: langchainCheckpointer(),
    middleware: [
      summarization({
        model,
        ...(limits
          ? {
              trigger: { tokens: limits.triggerTokens - fixedTokens },
              keep: { tokens: limits.keepTokens },
              tokenCounter: langchainCounter(),
            }
          : { trigger: { fraction: 0.85 } }),
        ...(summarisedTokens !== undefined && { trimTokensToSummarize: summarisedTokens }),
      }),
    ],
  });
  await playThread(agent as unknown as LangchainAgent, script);
}
