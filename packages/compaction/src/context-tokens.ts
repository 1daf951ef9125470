import type { AgentState, Message, TokenCounter } from "@holdfast/core";
import { adoptMessage, type MessageMeasure, type RequestPrompt } from "@holdfast/core/plugin-kit";

/** How many messages back to look for one whose usage the provider reported. */
const LOOK_BACK = 200;

/** How many system prompts to remember the size of. */
const REMEMBERED_PROMPTS = 64;

/** Size of a request. */
export interface ContextTokens {
  /** Of the whole request: system prompt, tools and messages. */
  readonly total: number;
  /** What the provider counts for each token the counter counts. */
  readonly scale: number;
  /** How many messages, from the first, the provider counted; those behind them are estimated. */
  readonly reportedMessages: number;
}

/**
 * Counts the tokens of a request that would be sent now.
 *
 * Cost: what was added since it was last asked, however long the context is. Where the last reply says what the provider
 * counted, only what came after it is estimated. A reported number below half of the estimate is not believed (some
 * servers cut what they are sent and report the rest).
 */
export class TokenMeter {
  readonly counter: TokenCounter;
  /** One function for all sessions: their sums are kept by it. */
  readonly tokensOf: MessageMeasure;
  readonly #systems = new Map<string, number>();

  constructor(counter: TokenCounter) {
    this.counter = counter;
    this.tokensOf = (message) => counter.countMessages([message]);
  }

  /** Tokens of the next request on this state. */
  contextTokens(state: AgentState, prompt: RequestPrompt): ContextTokens {
    const estimated = this.promptTokens(prompt) + state.contextSum(this.tokensOf);
    const { context } = state;
    let after = 0;
    const stop = Math.max(0, context.length - LOOK_BACK);
    for (let index = context.length - 1; index >= stop; index--) {
      const message = context[index] as Message;
      const reported = reportedTokens(message);
      if (reported !== null) {
        const before = estimated - after;
        // An older report would be about what this one counted as well.
        if (isStale(message) || reported < before / 2) break;
        const scale = reported / Math.max(1, before);
        return { total: reported + after, scale, reportedMessages: index + 1 };
      }
      after += this.tokensOf(message);
    }
    return { total: estimated, scale: 1, reportedMessages: 0 };
  }

  /** What a request costs before its first message. */
  promptTokens(prompt: RequestPrompt): number {
    return this.#systemTokens(prompt.system) + this.counter.countTools(prompt.tools);
  }

  /** A system prompt stays the same for many steps, and is long. */
  #systemTokens(system: string): number {
    let tokens = this.#systems.get(system);
    if (tokens === undefined) {
      if (this.#systems.size >= REMEMBERED_PROMPTS) this.#systems.clear();
      tokens = this.counter.countText(system);
      this.#systems.set(system, tokens);
    }
    return tokens;
  }
}

/** Key in the metadata of a reply whose usage is about a context that was shortened since. */
const STALE = "staleUsage";

/** Tokens up to and including this reply as the provider counted them, or null. */
function reportedTokens({ role, usage }: Message): number | null {
  if (role !== "assistant" || usage === undefined) return null;
  const tokens = usage.inputTokens + usage.outputTokens;
  return usage.inputTokens > 0 && Number.isFinite(tokens) ? tokens : null;
}

function isStale(message: Message): boolean {
  return message.metadata?.[STALE] === true;
}

/** The messages with the last reported usage marked as out of date: what it counted is no longer there. */
export function withStaleUsage(messages: readonly Message[]): Message[] {
  const copy = [...messages];
  const index = copy.findLastIndex((message) => reportedTokens(message) !== null);
  const message = copy[index];
  if (message && !isStale(message))
    copy[index] = adoptMessage({ ...message, metadata: { ...message.metadata, [STALE]: true } });
  return copy;
}
