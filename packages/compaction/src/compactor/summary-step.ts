import { type Message, type Offloader, type Usage, userMessage } from "@holdfast/core";
import { addUsage, type CompactionRequest } from "@holdfast/core/plugin-kit";
import { type Budget, isOver } from "../budget.js";
import type { CompactionSettings } from "../compaction-options.js";
import { type ContextTokens, type TokenMeter, withStaleUsage } from "../context-tokens.js";
import type { SummaryCut } from "../plan/plan-compaction.js";
import { summarize } from "../summary/summarize.js";
import { failureOf } from "../summary/summary-failure.js";
import type { ReadSummaryFormat } from "../summary/summary-format.js";
import { placesIn, summaryText } from "../summary/summary-text.js";

/** Ports of a compaction; read when first needed, because they exist only once the agent is built. */
export interface CompactorPorts {
  meter(): TokenMeter;
  offloader(): Offloader | undefined;
}

/** One compaction in progress. */
export interface CompactionRun {
  readonly request: CompactionRequest;
  readonly settings: CompactionSettings;
  readonly format: ReadSummaryFormat;
  readonly budget: Budget;
  readonly before: ContextTokens & { readonly messages: number };
}

/** Changes made to the context. */
export interface StepDone {
  readonly actions: readonly string[];
  readonly tokensAfter: number;
  readonly usage?: Usage | undefined;
}

/** Reason why the context is unchanged, without contents. */
export interface StepFailed {
  readonly failure: string;
  /** A shorter tail would fail too. */
  readonly isFinal?: boolean | undefined;
  readonly usage?: Usage | undefined;
}

/** Tokens assumed for a summary that is not written yet, when a tail is chosen. */
const EXPECTED_SUMMARY_TOKENS = 1_000;
/** Tokens a context with fewer messages may gain, below the trigger, from the header of its summary. */
const SLACK_TOKENS = 512;
/** Tails tried, each with a summary of its own, before giving up. */
const MAX_SUMMARIES = 3;

/**
 * The costly step: flush, summary, offload, then the new context if it is an improvement; if not, once more with the next
 * shorter tail.
 *
 * @throws whatever hooks and models throw, with the context unchanged
 */
export async function summaryStep(
  ports: CompactorPorts,
  run: CompactionRun,
  cuts: readonly SummaryCut[],
): Promise<StepDone | StepFailed> {
  const { before, budget } = run;
  const summaryTokens = Math.min(EXPECTED_SUMMARY_TOKENS, before.total / 10);
  const expected = (cut: SummaryCut): number =>
    tokensWith(ports, run, null, cut.kept) + summaryTokens;
  // A tail that would stay over the trigger is not worth a summary, unless it is the shortest.
  const fitting = cuts.filter((cut) => expected(cut) < budget.triggerTokens);
  const attempts = fitting.length > 0 ? fitting.slice(0, MAX_SUMMARIES) : cuts.slice(-1);
  if (fitting.length === 0 && attempts.every((cut) => expected(cut) >= worthwhileTokens(run)))
    return { failure: "the current request and the prompt, which have to stay, are too long" };
  let usage: Usage = { inputTokens: 0, outputTokens: 0 };
  let failure = "no shorter context could be made";
  // The cuts are of the context as it is now; messages added during a failed attempt are also appended to the next.
  const planned = [...run.request.state.context];
  const flushed = new Set<Message>();
  for (const [index, cut] of attempts.entries()) {
    const isLast = index === attempts.length - 1;
    const made = await trySummary(ports, run, { cut, planned, flushed, isLast });
    if (made.usage) usage = addUsage(usage, made.usage);
    if (!("failure" in made)) return { ...made, usage };
    failure = made.failure;
    if (made.isFinal) break;
  }
  return { failure, usage };
}

/** Attempt at one of the cuts. */
interface SummaryAttempt {
  readonly cut: SummaryCut;
  /** The context that the cuts were planned for. */
  readonly planned: readonly Message[];
  /** Messages an earlier attempt has announced already: listeners pay for each announcement. */
  readonly flushed: Set<Message>;
  readonly isLast: boolean;
}

async function trySummary(
  ports: CompactorPorts,
  run: CompactionRun,
  attempt: SummaryAttempt,
): Promise<StepDone | StepFailed> {
  const { cut, planned, flushed, isLast } = attempt;
  const { request, settings, format, budget, before } = run;
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
  // After the summary, so that one that fails leaves no file without a reference.
  const place = settings.offloadBeforeCompact ? await offload(ports, request, cut.dropped) : null;
  request.signal.throwIfAborted();
  const places = [...placesIn(state.summary), ...(place === null ? [] : [place])];
  const summary = summaryText(text, [...new Set(places)]);
  if (planned.some((message, index) => state.context[index] !== message))
    return {
      failure: "the context was changed in the meantime",
      usage,
      isFinal: true,
    };
  // Messages added while the summary was written follow the kept ones.
  const added = state.context.slice(planned.length);
  const kept = [...cut.kept, ...added];
  const message = userMessage([{ type: "hint", text: summary, source: "summary" }]);
  const tokensAfter = Math.round(tokensWith(ports, run, message, kept));
  const problem = problemOf(run, kept.length + 1, tokensAfter, isLast);
  if (problem !== null) return { failure: problem, usage };
  request.signal.throwIfAborted();
  state.contextMutable().replaceAll(withStaleUsage(kept));
  state.summary = summary;
  return { actions: ["summary"], tokensAfter, usage };
}

/** Returns in one line how to read the messages back; null without an offloader or if it fails: the log has them all. */
async function offload(
  ports: CompactorPorts,
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
 * Tokens of a request with this summary and these messages, in the unit of `before.total`: messages that the provider
 * counted are scaled, those after its last report are not. A summary never costs less than its own count.
 */
function tokensWith(
  ports: CompactorPorts,
  { request, before }: CompactionRun,
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

/** Tokens below which a new context has to be for a summary to be worth its price. */
function worthwhileTokens({ request, before, budget }: CompactionRun): number {
  const most = before.total * 0.9;
  return request.cause === "overflow" ? Math.min(most, budget.windowTokens ?? most) : most;
}

/** Returns why a new context is not an improvement, or null. On the last attempt any improvement will do. */
function problemOf(
  { before, budget, request }: CompactionRun,
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
