import type { AgentState, Message, TokenCounter } from "@holdfast/core";
import {
  adoptMessage,
  BoundedMap,
  type MessageMeasure,
  type RequestPrompt,
} from "@holdfast/core/plugin-kit";

/** Most tokens that a report can mean: with larger numbers, sums and products of sizes would not be exact. */
const MAX_REPORTED = 1_000_000_000;

/** Messages to search back for one whose usage the provider reported. */
const LOOK_BACK = 200;

/** System prompts whose size is remembered. */
const REMEMBERED_PROMPTS = 64;

/** Size of a request. */
export interface ContextTokens {
  /** Tokens of the whole request: system prompt, tools and messages. */
  readonly total: number;
  /** Tokens the provider counts per token of the counter. */
  readonly scale: number;
  /** Number of leading messages that the provider counted; the others are estimated. */
  readonly reportedMessages: number;
}

/**
 * Counts the tokens of a request that would be sent now.
 *
 * The cost is that of the messages added since the last count, however long the context is. If the last reply reports the
 * provider's count, only the messages after it are estimated. A report below half of the estimate is ignored: some servers
 * truncate the request and report what is left. So is one that no request could have.
 */
export class TokenMeter {
  readonly counter: TokenCounter;
  /** One function for all sessions, because a state caches its sum by this function. */
  readonly tokensOf: MessageMeasure;
  readonly #systems = new BoundedMap<string, number>({ maxEntries: REMEMBERED_PROMPTS });

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
        // An older report would not be more accurate: this one covers the same messages.
        if (isStale(message) || reported < before / 2) break;
        const scale = reported / Math.max(1, before);
        return { total: reported + after, scale, reportedMessages: index + 1 };
      }
      after += this.tokensOf(message);
    }
    return { total: estimated, scale: 1, reportedMessages: 0 };
  }

  /** Tokens of a request before its first message. */
  promptTokens(prompt: RequestPrompt): number {
    return this.#systemTokens(prompt.system) + this.counter.countTools(prompt.tools);
  }

  /** Remembered, because a system prompt is long and stays the same for many steps. */
  #systemTokens(system: string): number {
    let tokens = this.#systems.get(system);
    if (tokens === undefined) {
      tokens = this.counter.countText(system);
      this.#systems.set(system, tokens);
    }
    return tokens;
  }
}

/** Metadata key of a reply whose usage describes a context that has been shortened since. */
const STALE = "staleUsage";

/** The provider's count of the tokens up to and including this reply, or null. */
function reportedTokens({ role, usage }: Message): number | null {
  if (role !== "assistant" || usage === undefined) return null;
  const tokens = usage.inputTokens + usage.outputTokens;
  return usage.inputTokens > 0 && Number.isFinite(tokens) && tokens <= MAX_REPORTED ? tokens : null;
}

function isStale(message: Message): boolean {
  return message.metadata?.[STALE] === true;
}

/** Marks the last reported usage as stale, because the messages it counted have changed. */
export function withStaleUsage(messages: readonly Message[]): Message[] {
  const copy = [...messages];
  const index = copy.findLastIndex((message) => reportedTokens(message) !== null);
  const message = copy[index];
  if (message && !isStale(message))
    copy[index] = adoptMessage({ ...message, metadata: { ...message.metadata, [STALE]: true } });
  return copy;
}
