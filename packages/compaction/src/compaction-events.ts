import type { Usage } from "@holdfast/core";
import type { CompactionCause } from "@holdfast/core/plugin-kit";

/** Events of `compaction()`, besides the `compaction_failed` of core. */
export interface CompactionEvents {
  /** The context is about to be shortened. */
  readonly compaction_start: {
    readonly cause: CompactionCause;
    readonly messages: number;
    readonly tokens: number;
  };
  /** The context is shorter. */
  readonly compaction_end: {
    readonly cause: CompactionCause;
    /** Steps taken, for example `truncate_args`, `prune`, `summary`. */
    readonly actions: readonly string[];
    readonly messagesBefore: number;
    readonly messagesAfter: number;
    readonly tokensBefore: number;
    readonly tokensAfter: number;
    readonly durationMs: number;
    /** Usage of the model calls made for it. */
    readonly usage?: Usage | undefined;
  };
  /** Something is not as the options want it; the compaction goes on. */
  readonly compaction_warning: {
    readonly cause: CompactionCause;
    /** A sentence, without contents of messages. */
    readonly warning: string;
  };
}

declare module "@holdfast/core" {
  interface EventTypes extends CompactionEvents {}
}
