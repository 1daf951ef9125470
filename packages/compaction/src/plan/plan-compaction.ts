import type { Message } from "@holdfast/core";
import { type Budget, isOver } from "../budget.js";
import type { Prune, TruncateArgs } from "../compaction-options.js";
import { currentRequest, cuttable, hasToolBlock, type TailLimit, tailStart } from "./cuts.js";
import { pruneResults } from "./prune-results.js";
import { truncateArguments } from "./truncate-arguments.js";

/** Context and limits that {@link planCompaction} decides about. */
export interface PlanInput {
  readonly messages: readonly Message[];
  /** True if the first message is the summary of an earlier compaction. */
  readonly hasSummary: boolean;
  /** Ids of tool calls without a result; their message stays, as it is. */
  readonly openCalls: ReadonlySet<string>;
  /** Tokens of the whole request as it is now. */
  readonly tokens: number;
  /** Tokens the provider counts per token of `tokensOf`. @default 1 */
  readonly scale?: number | undefined;
  tokensOf(message: Message): number;
  readonly budget: Budget;
  readonly truncateArgs: TruncateArgs | null;
  readonly prune: Prune | null;
  /** `false`: only the cheap steps. */
  readonly summarize: boolean;
  /** Shorten even below the trigger. */
  readonly force: boolean;
}

/** A cheap step that is part of a plan. */
export type ClipAction = "truncate_args" | "prune";

/** Messages that leave for a summary, and those that stay. */
export interface SummaryCut {
  /** Messages to summarise: the beginning of the context, including an earlier summary. */
  readonly prefix: readonly Message[];
  /** Messages that leave the context: the prefix without an earlier summary and the current request. */
  readonly dropped: readonly Message[];
  /** Messages that follow the new summary: the current request and the verbatim tail. */
  readonly kept: readonly Message[];
}

/** Decision about a context. */
export type CompactionPlan =
  | { readonly kind: "nothing" }
  /** The cheap steps are enough, or are the only ones enabled. */
  | {
      readonly kind: "clip";
      readonly messages: readonly Message[];
      readonly actions: readonly ClipAction[];
      readonly tokensAfter: number;
    }
  /** Cuts to try in order, longest tail first, until one gets below the trigger. */
  | { readonly kind: "summarize"; readonly cuts: readonly SummaryCut[] }
  /** The context is over its trigger and cannot be shortened. */
  | { readonly kind: "stuck"; readonly why: string };

/** Fractions of the configured tail to try. */
const tailShares = [1, 0.5, 0.25, 0] as const;

/**
 * Decides how to shorten a context, in order of cost. Pure: nothing is changed, no model is asked.
 *
 * The cheap steps are worked out first and used only if they are enough: a summary that is needed anyway is made from the
 * messages as the provider has them in its cache.
 */
export function planCompaction(input: PlanInput): CompactionPlan {
  const { messages, budget, tokens } = input;
  const fires = input.force || isOver(budget, messages.length, tokens);
  const clip = planClip(input, fires);
  if (clip && !input.force && !isOver(budget, messages.length, clip.tokensAfter)) return clip;
  if (!fires) return clip ?? { kind: "nothing" };
  if (!input.summarize) return clip ?? stuckOrNothing(input, "the summary is switched off");
  const cuts = planCuts(input);
  if (cuts.length > 0) return { kind: "summarize", cuts };
  return clip ?? stuckOrNothing(input, "nothing but the current request and the summary is left");
}

function stuckOrNothing({ budget, messages, tokens }: PlanInput, why: string): CompactionPlan {
  return isOver(budget, messages.length, tokens) ? { kind: "stuck", why } : { kind: "nothing" };
}

function planClip(
  input: PlanInput,
  urgent: boolean,
): Extract<CompactionPlan, { kind: "clip" }> | null {
  const { truncateArgs, prune, tokensOf, tokens, openCalls, scale = 1 } = input;
  const actions: ClipAction[] = [];
  let { messages } = input;
  if (truncateArgs) {
    const truncated = truncateArguments(messages, truncateArgs, { tokens, urgent, openCalls });
    if (truncated !== messages) actions.push("truncate_args");
    messages = truncated;
  }
  if (prune) {
    const pruned = pruneResults(messages, prune, tokensOf);
    if (pruned !== messages) actions.push("prune");
    messages = pruned;
  }
  if (actions.length === 0) return null;
  let saved = 0;
  for (const [index, message] of messages.entries()) {
    const before = input.messages[index] as Message;
    if (before !== message) saved += tokensOf(before) - tokensOf(message);
  }
  // The marker that replaces a text can cost more than the text did.
  if (saved <= 0) return null;
  return { kind: "clip", messages, actions, tokensAfter: Math.max(0, tokens - saved * scale) };
}

function planCuts(input: PlanInput): SummaryCut[] {
  const { messages, hasSummary, openCalls, tokensOf } = input;
  const from = hasSummary ? 1 : 0;
  const canCut = cuttable(messages, openCalls);
  const request = currentRequest(messages).filter((index) => index >= from);
  // A request that carries tool results cannot stay without their calls, so nothing after it may leave.
  const tied = request.find((index) => hasToolBlock(messages[index] as Message));
  if (tied !== undefined) canCut.fill(false, tied + 1);
  const cuts: SummaryCut[] = [];
  const mustFit = isOver(input.budget, messages.length, input.tokens);
  // Forced below the trigger, the tail is as long as configured, or a quarter of the context.
  const shares = mustFit ? tailShares : [1];
  const most = mustFit || input.budget.isTailGiven ? null : Math.ceil(messages.length / 4);
  let last = -1;
  for (const share of shares) {
    const limit = tailLimit(input, share, most);
    const start = tailStart(messages, canCut, from, limit, tokensOf);
    if (start === last) continue;
    last = start;
    const pinned = new Set(request.filter((index) => index < start));
    const dropped = messages.slice(from, start).filter((_, at) => !pinned.has(from + at));
    if (dropped.length === 0) continue;
    cuts.push({
      prefix: messages.slice(0, start),
      dropped,
      kept: [...[...pinned].map((index) => messages[index] as Message), ...messages.slice(start)],
    });
  }
  return cuts;
}

/** The configured tail or a fraction of it; never so long that the message trigger would fire again at once. */
function tailLimit(
  { budget, scale = 1 }: PlanInput,
  share: number,
  most: number | null,
): TailLimit {
  const { keepMessages, keepTokens, triggerMessages } = budget;
  const below =
    triggerMessages === null ? null : Math.max(1, Math.floor(triggerMessages * 0.6) - 2);
  const messages = Math.min(keepMessages ?? below ?? Infinity, most ?? Infinity);
  return {
    messages: messages === Infinity ? null : Math.floor(messages * share),
    tokens:
      keepTokens === null ? (share === 0 ? 0 : null) : Math.floor((keepTokens * share) / scale),
  };
}
