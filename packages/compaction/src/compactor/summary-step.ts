import { type Message, type Offloader, type Usage, userMessage } from "@holdfast/core";
import { addUsage, type CompactionRequest, offloadReference } from "@holdfast/core/plugin-kit";
import { type Budget, isOver } from "../budget.js";
import type { CompactionSettings } from "../compaction-options.js";
import { type ContextTokens, type TokenMeter, withStaleUsage } from "../context-tokens.js";
import type { SummaryCut } from "../plan/plan-compaction.js";
import { type AskModel, summarize } from "../summary/summarize.js";
import { failureOf } from "../summary/summary-failure.js";
import type { ReadSummaryFormat } from "../summary/summary-format.js";
import { placesIn, summaryText } from "../summary/summary-text.js";

/** Ports of a compaction; read when first needed, because they exist only once the agent is built. */
export interface CompactorPorts {
  readonly ask: AskModel;
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
/** Failure of a summary that costs more than what it stands for. */
const NOT_SMALLER = "the context would not be smaller with the summary";
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
  // The header alone may cost more than a few short messages: no model has to be asked to know that.
  const header = summaryMessage(summaryText("", placesIn(run.request.state.summary)));
  if (attempts.every((cut) => tokensWith(ports, run, header, cut.kept) >= before.total))
    return { failure: NOT_SMALLER };
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
  const { text, missing, usage } = await summarize({
    ask: ports.ask,
    request,
    settings,
    format,
    meter: ports.meter(),
    prefix: cut.prefix,
    windowTokens: budget.windowTokens,
    scale: before.scale,
  });
  if (text === "") return { failure: "the summary was empty", usage, isFinal: true };
  if (missing.length > 0)
    request.emit({
      type: "compaction_warning",
      cause: request.cause,
      warning: `the summary has no value for ${missing.map((name) => `{${name}}`).join(", ")} of summaryTemplate; the place is empty`,
    });
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
  const message = summaryMessage(summary);
  const tokensAfter = Math.round(tokensWith(ports, run, message, kept));
  const problem = problemOf(run, kept.length + 1, tokensAfter, isLast);
  if (problem !== null) return { failure: problem, usage };
  request.signal.throwIfAborted();
  state.contextMutable().replaceAll(withStaleUsage(kept));
  state.summary = summary;
  return { actions: ["summary"], tokensAfter, usage };
}

function summaryMessage(text: string): Message {
  return userMessage([{ type: "hint", text, source: "summary" }]);
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
    const answer = await offloader.offloadContext(request.slot, messages);
    return offloadReference(answer).readBack.replaceAll(/\s+/g, " ").trim();
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
  if (tokens >= before.total) return NOT_SMALLER;
  if (!isLast && isOver(budget, messages, tokens))
    return "the context would still be over its trigger";
  return null;
}
