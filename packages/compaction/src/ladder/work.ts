import type { Offloader, Usage } from "@holdfast/core";
import type { CompactionRequest } from "@holdfast/core/plugin-kit";
import type { Budget } from "../budget.js";
import type { CompactionSettings } from "../compaction-options.js";
import type { ContextTokens, TokenMeter } from "../context-tokens.js";
import type { ReadSummaryFormat } from "../summary/summary-format.js";

/** The ports a compaction uses; asked for when first needed: they are there once the agent is built. */
export interface LadderPorts {
  meter(): TokenMeter;
  offloader(): Offloader | undefined;
}

/** Options, read. */
export interface Configured {
  readonly settings: CompactionSettings;
  readonly format: ReadSummaryFormat;
}

/** One compaction while it runs. */
export interface Work extends Configured {
  readonly request: CompactionRequest;
  readonly budget: Budget;
  readonly before: ContextTokens & { readonly messages: number };
}

/** What a step of the ladder achieved. */
export interface Achieved {
  readonly actions: readonly string[];
  readonly tokensAfter: number;
  readonly usage?: Usage | undefined;
}

/** Why it could not be done, in words that hold no contents. */
export interface Failed {
  readonly failure: string;
  /** A shorter tail would not help. */
  readonly isFinal?: boolean | undefined;
  readonly usage?: Usage | undefined;
}
