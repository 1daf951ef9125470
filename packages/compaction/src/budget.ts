import { type CompactionSettings, DEFAULT_TRIGGER_MESSAGES } from "./compaction-options.js";

/** Window assumed if neither the model nor an overflow error has told it; gives a trigger of 160,000 tokens. */
const ASSUMED_WINDOW = 180_000;

/** Limits of one compaction in plain numbers. */
export interface Budget {
  /** null: the window is unknown. */
  readonly windowTokens: number | null;
  /** Fire at this many messages; null = off. */
  readonly triggerMessages: number | null;
  readonly triggerTokens: number;
  /** Longest verbatim tail; null means no limit. */
  readonly keepMessages: number | null;
  readonly keepTokens: number | null;
  /** True if the options set the tail; otherwise a forced compaction may make it shorter. */
  readonly isTailGiven: boolean;
  readonly reservedTokens: number;
}

/**
 * Returns the limits that the options set for a model with this window.
 *
 * @param windowTokens - undefined when unknown
 */
export function budgetOf(settings: CompactionSettings, windowTokens: number | undefined): Budget {
  const window = windowTokens ?? ASSUMED_WINDOW;
  const reserved = settings.reservedTokens;
  const usable = window > reserved ? window - reserved : Math.max(1, Math.floor(window / 2));
  const { triggerRatio, triggerTokens: given } = settings;
  const triggerTokens =
    given ?? (triggerRatio === undefined ? usable : Math.floor(window * triggerRatio));
  const hasTokenTrigger = given !== undefined || triggerRatio !== undefined;
  const triggerMessages =
    settings.triggerMessages ?? (hasTokenTrigger ? 0 : DEFAULT_TRIGGER_MESSAGES);
  const { keepMessages, keepTokens, reserveRatio } = settings;
  const byRatio = reserveRatio === undefined ? undefined : Math.floor(window * reserveRatio);
  const isGiven = keepMessages !== undefined || keepTokens !== undefined || byRatio !== undefined;
  const byDefault = Math.min(8_000, Math.max(2_000, Math.floor(usable / 4)));
  return {
    windowTokens: windowTokens ?? null,
    triggerMessages: triggerMessages === 0 ? null : triggerMessages,
    triggerTokens: Math.max(1, triggerTokens),
    keepMessages: keepMessages ?? (isGiven || windowTokens !== undefined ? null : 20),
    keepTokens: keepTokens ?? byRatio ?? (isGiven || windowTokens === undefined ? null : byDefault),
    isTailGiven: isGiven,
    reservedTokens: reserved,
  };
}

/**
 * Returns what is wrong with the options for this model, which cannot be known before there is a model; null when nothing is.
 */
export function budgetProblem(
  settings: CompactionSettings,
  { windowTokens, triggerTokens, keepTokens, isTailGiven }: Budget,
): string | null {
  const { triggerRatio, reserveRatio } = settings;
  const ratio = triggerRatio === undefined ? "reserveRatio" : "triggerRatio";
  if (windowTokens === null && (triggerRatio !== undefined || reserveRatio !== undefined))
    return `${ratio} is a fraction of the model's context window, which is not known: ${ASSUMED_WINDOW} tokens are assumed, so that a compaction is due at ${triggerTokens} tokens. Give the model a contextWindow, or set triggerTokens and keepTokens`;
  if (isTailGiven && keepTokens !== null && keepTokens >= triggerTokens)
    return `the tail of ${keepTokens} tokens is not shorter than the trigger of ${triggerTokens} tokens that this model gets; a shorter tail is kept`;
  return null;
}

/** Tells whether a context of this size has to be shortened. */
export function isOver(budget: Budget, messages: number, tokens: number): boolean {
  return (
    tokens >= budget.triggerTokens ||
    (budget.triggerMessages !== null && messages >= budget.triggerMessages)
  );
}
