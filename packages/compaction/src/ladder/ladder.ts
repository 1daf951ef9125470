import type { CompactionResult, Compactor } from "@holdfast/core";
import type { CompactionRequest } from "@holdfast/core/plugin-kit";
import { budgetOf } from "../budget.js";
import {
  type CompactionOptions,
  type CompactionSettings,
  readCompactionOptions,
  withOverrides,
} from "../compaction-options.js";
import { withStaleUsage } from "../context-tokens.js";
import { type CompactionPlan, planCompaction } from "../plan/plan-compaction.js";
import { readSummaryFormat } from "../summary/summary-format.js";
import { FailedAttempts } from "./failed-attempts.js";
import { failureOf } from "./failure-of.js";
import { summaryStep } from "./summary-step.js";
import type { Achieved, Configured, Failed, LadderPorts, Work } from "./work.js";

/** The compactor: clips what is old, and has the rest summarised when that is not enough. */
export class Ladder implements Compactor {
  readonly proactive = true;
  readonly #options: CompactionOptions;
  readonly #ports: LadderPorts;
  readonly #configured: Configured;
  readonly #failures = new FailedAttempts();

  /** @throws ConfigurationError */
  constructor(options: CompactionOptions, ports: LadderPorts) {
    this.#options = options;
    this.#ports = ports;
    this.#configured = configured(readCompactionOptions(options));
  }

  async compact(request: CompactionRequest): Promise<CompactionResult> {
    request.signal.throwIfAborted();
    const { state, cause } = request;
    const work = this.#begin(request);
    const { messages, total: tokens } = work.before;
    const sizesBefore = { messagesBefore: messages, tokensBefore: tokens };
    const unchanged = {
      ...sizesBefore,
      compacted: false,
      messagesAfter: messages,
      tokensAfter: tokens,
    };
    const plan = this.#plan(work);
    if (plan.kind === "nothing") return unchanged;
    // A clip costs nothing, so that only what asks a model, or cannot work, waits.
    if (cause === "step" && plan.kind !== "clip" && this.#failures.tooSoon(state.context))
      return unchanged;
    const began = performance.now();
    request.emit({ type: "compaction_start", cause, messages, tokens });
    const done = await this.#run(work, plan);
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

  #begin(request: CompactionRequest): Work {
    const { state, model, limitTokens, prompt, cause, overrides } = request;
    const { settings, format } =
      Object.keys(overrides).length === 0
        ? this.#configured
        : configured(withOverrides(this.#options, overrides));
    const tokens = this.#ports.meter().contextTokens(state, prompt);
    const before = { ...tokens, total: Math.round(tokens.total), messages: state.context.length };
    const window = Math.min(model.contextWindow ?? Infinity, limitTokens ?? Infinity);
    const budget = budgetOf(settings, Number.isFinite(window) ? window : undefined);
    // The model refused what it was sent, whatever was counted: the next request has to be a good deal shorter.
    const refused = Math.ceil(before.total * 0.75);
    const triggerTokens =
      cause === "overflow" ? Math.min(budget.triggerTokens, refused) : budget.triggerTokens;
    return { request, settings, format, budget: { ...budget, triggerTokens }, before };
  }

  #plan({ request, settings, budget, before }: Work): CompactionPlan {
    const { state, force } = request;
    return planCompaction({
      messages: state.context,
      hasSummary: state.summary !== null,
      openCalls: new Set(Object.keys(state.openCalls)),
      tokens: before.total,
      scale: before.scale,
      tokensOf: this.#ports.meter().tokensOf,
      ...(force && !settings.summarize ? pressed(settings, before.total) : settings),
      ...{ budget, force },
    });
  }

  async #run(
    work: Work,
    plan: Exclude<CompactionPlan, { kind: "nothing" }>,
  ): Promise<Achieved | Failed> {
    const { state, signal } = work.request;
    // Whoever heard that it begins may have stopped it.
    signal.throwIfAborted();
    switch (plan.kind) {
      case "stuck":
        return { failure: plan.why };
      case "clip":
        state.contextMutable().replaceAll(withStaleUsage(plan.messages));
        return { actions: plan.actions, tokensAfter: Math.round(plan.tokensAfter) };
      case "summarize":
        try {
          return await summaryStep(this.#ports, work, plan.cuts);
        } catch (error) {
          signal.throwIfAborted();
          return { failure: failureOf(error) };
        }
    }
  }
}

/** Where the cheap steps are all there is and something has to be done, they do not wait for their own triggers. */
function pressed(
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

function configured(settings: CompactionSettings): Configured {
  return { settings, format: readSummaryFormat(settings) };
}
