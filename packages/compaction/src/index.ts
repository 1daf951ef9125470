export { type Budget, budgetOf } from "./budget.js";
export { compaction } from "./compaction.js";
export type { CompactionEvents } from "./compaction-events.js";
export type {
  CompactionOptions,
  CompactionSettings,
  Prune,
  PruneOptions,
  SummaryFormat,
  TruncateArgs,
  TruncateArgsOptions,
} from "./compaction-options.js";
export { type ContextTokens, TokenMeter } from "./context-tokens.js";
export {
  type ClipAction,
  type CompactionPlan,
  type PlanInput,
  planCompaction,
  type SummaryCut,
} from "./plan/plan-compaction.js";
export { fiveFieldSummary } from "./summary/five-field-summary.js";
export { type GptTokenizerEncoder, gptTokenizerCounter } from "./tokens/gpt-tokenizer-counter.js";
export { type TiktokenEncoder, tiktokenCounter } from "./tokens/tiktoken-counter.js";
export type { BpeCounterOptions, TokenEncoding } from "./tokens/token-encoding.js";
