import { type Message, type Usage, userMessage } from "@holdfast/core";
import { addUsage, type CompactionRequest } from "@holdfast/core/plugin-kit";
import { isOver } from "../budget.js";
import { withStaleUsage } from "../context-tokens.js";
import type { SummaryCut } from "../plan/plan-compaction.js";
import { summarize } from "../summary/summarize.js";
import { placesIn, summaryText } from "../summary/summary-text.js";
import { failureOf } from "./failure-of.js";
import type { Achieved, Failed, LadderPorts, Work } from "./work.js";

/** Tokens a summary is expected to have at most when a tail is chosen before it is written. */
const EXPECTED_SUMMARY = 1_000;
/** How many tokens a context with fewer messages may have more, below the trigger: the price of saying what it is. */
const SLACK_TOKENS = 512;
/** Tails tried with a summary each, before giving up. */
const MAX_SUMMARIES = 3;

/**
 * The costly step: flush, summary, offload, and the new context if it is an improvement. The next shorter tail where it
 * is none.
 *
 * @throws what hooks and models throw; the context is as it was then
 */
export async function summaryStep(
  ports: LadderPorts,
  work: Work,
  cuts: readonly SummaryCut[],
): Promise<Achieved | Failed> {
  const { before, budget } = work;
  const summaryTokens = Math.min(EXPECTED_SUMMARY, before.total / 10);
  const expected = (cut: SummaryCut): number =>
    tokensWith(ports, work, null, cut.kept) + summaryTokens;
  // A tail that would not get under the trigger is not worth a summary, unless there is no shorter one.
  const fitting = cuts.filter((cut) => expected(cut) < budget.triggerTokens);
  const tries = fitting.length > 0 ? fitting.slice(0, MAX_SUMMARIES) : cuts.slice(-1);
  if (fitting.length === 0 && tries.every((cut) => expected(cut) >= leastGain(work)))
    return { failure: "what has to stay, the current request and the prompt, is too long" };
  let usage: Usage = { inputTokens: 0, outputTokens: 0 };
  let failure = "no shorter context could be made";
  // The cuts are of the context as it is now; what is said during a try that fails belongs behind the next one too.
  const planned = [...work.request.state.context];
  const flushed = new Set<Message>();
  for (const [index, cut] of tries.entries()) {
    const isLast = index === tries.length - 1;
    const made = await trySummary(ports, work, { cut, planned, flushed, isLast });
    if (made.usage) usage = addUsage(usage, made.usage);
    if (!("failure" in made)) return { ...made, usage };
    failure = made.failure;
    if (made.isFinal) break;
  }
  return { failure, usage };
}

/** One of the cuts, tried. */
interface Try {
  readonly cut: SummaryCut;
  /** The context the cuts are of. */
  readonly planned: readonly Message[];
  /** What an earlier try announced already: listeners pay for each announcement. */
  readonly flushed: Set<Message>;
  readonly isLast: boolean;
}

async function trySummary(
  ports: LadderPorts,
  work: Work,
  attempt: Try,
): Promise<Achieved | Failed> {
  const { cut, planned, flushed, isLast } = attempt;
  const { request, settings, format, budget, before } = work;
  const { state } = request;
  request.signal.throwIfAborted();
  const unflushed = cut.dropped.filter((message) => !flushed.has(message));
  if (settings.flushBeforeCompact && unflushed.length > 0) {
    await request.dropping(unflushed);
    for (const message of unflushed) flushed.add(message);
  }
  request.signal.throwIfAborted();
  const { text, usage } = await summarize({
    request,
    settings,
    format,
    meter: ports.meter(),
    prefix: cut.prefix,
    windowTokens: budget.windowTokens,
    scale: before.scale,
  });
  if (text === "") return { failure: "the summary was empty", usage, isFinal: true };
  // Behind the summary: one that fails leaves no file nobody refers to.
  const place = settings.offloadBeforeCompact ? await offload(ports, request, cut.dropped) : null;
  request.signal.throwIfAborted();
  const places = [...placesIn(state.summary), ...(place === null ? [] : [place])];
  const summary = summaryText(text, [...new Set(places)]);
  if (planned.some((message, index) => state.context[index] !== message))
    return {
      failure: "the context was changed by somebody else meanwhile",
      usage,
      isFinal: true,
    };
  // What was said while the summary was written comes behind.
  const added = state.context.slice(planned.length);
  const kept = [...cut.kept, ...added];
  const message = userMessage([{ type: "hint", text: summary, source: "summary" }]);
  const tokensAfter = Math.round(tokensWith(ports, work, message, kept));
  const problem = problemOf(work, kept.length + 1, tokensAfter, isLast);
  if (problem !== null) return { failure: problem, usage };
  request.signal.throwIfAborted();
  state.contextMutable().replaceAll(withStaleUsage(kept));
  state.summary = summary;
  return { actions: ["summary"], tokensAfter, usage };
}

/** How to read what leaves, in one line; null where there is no offloader or it fails: the log has everything. */
async function offload(
  ports: LadderPorts,
  request: CompactionRequest,
  messages: readonly Message[],
): Promise<string | null> {
  const offloader = ports.offloader();
  if (!offloader) return null;
  try {
    const { readBack } = await offloader.offloadContext(request.slot, messages);
    return readBack.replaceAll(/\s+/g, " ").trim();
  } catch (error) {
    request.signal.throwIfAborted();
    request.emit({
      type: "error",
      code: "OFFLOAD_FAILED",
      message: `messages that leave the context could not be offloaded: ${failureOf(error)}`,
    });
    return null;
  }
}

/**
 * Tokens of a request with this summary and these messages of the context, in the unit of `before.total`: what the
 * provider counted is scaled, what came after its last report is not. A summary is never taken for cheaper than counted.
 */
function tokensWith(
  ports: LadderPorts,
  { request, before }: Work,
  summary: Message | null,
  messages: readonly Message[],
): number {
  const meter = ports.meter();
  const { tokensOf } = meter;
  const estimated = new Set(request.state.context.slice(before.reportedMessages));
  const sum = messages.reduce(
    (tokens, message) => tokens + tokensOf(message) * (estimated.has(message) ? 1 : before.scale),
    0,
  );
  const summaryTokens = summary === null ? 0 : tokensOf(summary) * Math.max(1, before.scale);
  return meter.promptTokens(request.prompt) * before.scale + summaryTokens + sum;
}

/** A context has to become smaller than this for a summary to be worth its price. */
function leastGain({ request, before, budget }: Work): number {
  const most = before.total * 0.9;
  return request.cause === "overflow" ? Math.min(most, budget.windowTokens ?? most) : most;
}

/** Why a new context is no improvement, or null. On the last try any improvement will do. */
function problemOf(
  { before, budget, request }: Work,
  messages: number,
  tokens: number,
  isLast: boolean,
): string | null {
  const isOverflow = request.cause === "overflow";
  if (isOverflow && tokens >= (budget.windowTokens ?? before.total))
    return "the context would still be too long with the summary";
  const hasFewerMessages =
    messages < before.messages &&
    tokens < budget.triggerTokens &&
    tokens <= before.total + SLACK_TOKENS;
  if (tokens >= before.total && (isOverflow || !hasFewerMessages))
    return "the context would not be smaller with the summary";
  if (!isLast && isOver(budget, messages, tokens))
    return "the context would still be over its trigger";
  return null;
}
