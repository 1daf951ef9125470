import type { CompactionResult, Compactor } from "@holdfast/core";
import type { CompactionRequest } from "@holdfast/core/plugin-kit";
import { budgetOf, budgetProblem } from "../budget.js";
import {
  type CompactionOptions,
  type CompactionSettings,
  readCompactionOptions,
  withOverrides,
} from "../compaction-options.js";
import { withStaleUsage } from "../context-tokens.js";
import { type CompactionPlan, planCompaction } from "../plan/plan-compaction.js";
import { failureOf } from "../summary/summary-failure.js";
import { readSummaryFormat } from "../summary/summary-format.js";
import { FailedAttempts } from "./failed-attempts.js";
import {
  type CompactionRun,
  type CompactorPorts,
  type StepDone,
  type StepFailed,
  summaryStep,
} from "./summary-step.js";

/** Settings and the summary format that follows from them. */
type Configuration = Pick<CompactionRun, "settings" | "format">;

/** Shortens a context in steps, cheapest first: clips old arguments and results, then has the rest summarised. */
export class ContextCompactor implements Compactor {
  readonly proactive = true;
  readonly #options: CompactionOptions;
  readonly #ports: CompactorPorts;
  readonly #configuration: Configuration;
  readonly #failures = new FailedAttempts();
  readonly #warnings = new Set<string>();

  /** @throws ConfigurationError */
  constructor(options: CompactionOptions, ports: CompactorPorts) {
    this.#options = options;
    this.#ports = ports;
    this.#configuration = configurationOf(readCompactionOptions(options));
  }

  async compact(request: CompactionRequest): Promise<CompactionResult> {
    request.signal.throwIfAborted();
    const { state, cause } = request;
    const run = this.#begin(request);
    const { messages, total: tokens } = run.before;
    const sizesBefore = { messagesBefore: messages, tokensBefore: tokens };
    const unchanged = {
      ...sizesBefore,
      compacted: false,
      messagesAfter: messages,
      tokensAfter: tokens,
    };
    this.#warn(run);
    const plan = this.#plan(run);
    if (plan.kind === "nothing") return unchanged;
    // A clip costs nothing and need not wait after a failure.
    if (cause === "step" && plan.kind !== "clip" && this.#failures.tooSoon(state.context))
      return unchanged;
    const began = performance.now();
    request.emit({ type: "compaction_start", cause, messages, tokens });
    const done = await this.#execute(run, plan);
    if ("failure" in done) {
      this.#failures.failed(state.context);
      request.emit({ type: "compaction_failed", cause, error: done.failure });
      return { ...unchanged, failure: done.failure };
    }
    if (plan.kind === "summarize") this.#failures.succeeded(state.context);
    const { actions, tokensAfter, usage } = done;
    const sizes = { ...sizesBefore, messagesAfter: state.context.length, tokensAfter };
    const durationMs = performance.now() - began;
    request.mark({ name: "compaction", details: { cause, actions, ...sizes } });
    request.emit({
      type: "compaction_end",
      ...{ cause, actions, ...sizes, durationMs },
      ...(usage && { usage }),
    });
    return { compacted: true, ...sizes };
  }

  /** Says once what is wrong with the options for the agent's model. */
  #warn({ request: { emit, cause }, settings, budget }: CompactionRun): void {
    const warning = cause === "overflow" ? null : budgetProblem(settings, budget);
    if (warning === null || this.#warnings.has(warning)) return;
    this.#warnings.add(warning);
    emit({ type: "compaction_warning", cause, warning });
  }

  #begin(request: CompactionRequest): CompactionRun {
    const { state, model, limitTokens, prompt, cause, overrides } = request;
    const { settings, format } =
      Object.keys(overrides).length === 0
        ? this.#configuration
        : configurationOf(withOverrides(this.#options, overrides));
    const tokens = this.#ports.meter().contextTokens(state, prompt);
    const before = { ...tokens, total: Math.round(tokens.total), messages: state.context.length };
    const window = Math.min(model.contextWindow ?? Infinity, limitTokens ?? Infinity);
    const budget = budgetOf(settings, Number.isFinite(window) ? window : undefined);
    // The model refused the request, whatever the count says: the next one has to be a good deal shorter.
    const refused = Math.ceil(before.total * 0.75);
    const triggerTokens =
      cause === "overflow" ? Math.min(budget.triggerTokens, refused) : budget.triggerTokens;
    return { request, settings, format, budget: { ...budget, triggerTokens }, before };
  }

  #plan({ request, settings, budget, before }: CompactionRun): CompactionPlan {
    const { state, force } = request;
    return planCompaction({
      messages: state.context,
      hasSummary: state.summary !== null,
      openCalls: new Set(Object.keys(state.openCalls)),
      tokens: before.total,
      scale: before.scale,
      tokensOf: this.#ports.meter().tokensOf,
      ...(force && !settings.summarize ? withoutTriggers(settings, before.total) : settings),
      ...{ budget, force },
    });
  }

  async #execute(
    run: CompactionRun,
    plan: Exclude<CompactionPlan, { kind: "nothing" }>,
  ): Promise<StepDone | StepFailed> {
    const { state, signal } = run.request;
    // A listener of compaction_start may have stopped the call.
    signal.throwIfAborted();
    switch (plan.kind) {
      case "stuck":
        return { failure: plan.why };
      case "clip":
        state.contextMutable().replaceAll(withStaleUsage(plan.messages));
        return { actions: plan.actions, tokensAfter: Math.round(plan.tokensAfter) };
      case "summarize":
        try {
          return await summaryStep(this.#ports, run, plan.cuts);
        } catch (error) {
          signal.throwIfAborted();
          return { failure: failureOf(error) };
        }
    }
  }
}

/** Settings of a forced compaction without a summary, in which the cheap steps do not wait for their own triggers. */
function withoutTriggers(
  { truncateArgs, prune, summarize }: CompactionSettings,
  tokens: number,
): Pick<CompactionSettings, "truncateArgs" | "prune" | "summarize"> {
  return {
    summarize,
    truncateArgs: truncateArgs && { ...truncateArgs, triggerMessages: 0, triggerTokens: 0 },
    prune: prune && {
      ...prune,
      protectTokens: Math.min(prune.protectTokens, Math.floor(tokens / 4)),
      minimumTokens: 0,
    },
  };
}

/** Reads the summary format that the settings describe. @throws ConfigurationError */
export function configurationOf(settings: CompactionSettings): Configuration {
  return { settings, format: readSummaryFormat(settings) };
}
