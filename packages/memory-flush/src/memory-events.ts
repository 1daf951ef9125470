import type { Usage } from "@holdfast/core";

/** Background events of `memoryFlush()`. */
export interface MemoryEvents {
  /** Facts are being extracted from the log. */
  readonly memory_flush_start: Record<never, never>;
  readonly memory_flush_end: {
    /** Number of facts written; 0 when there was nothing to remember. */
    readonly entries: number;
    readonly usage?: Usage | undefined;
  };
  /** The flush failed and is tried again later. */
  readonly memory_flush_failed: {
    /** Code or reason, without contents of messages. */
    readonly error: string;
  };
  /** `MEMORY.md` is being rewritten, was rewritten, or could not be. */
  readonly consolidation: {
    readonly state: "start" | "end" | "failed";
    /** Usage of the model calls made for it; in state `end`. */
    readonly usage?: Usage | undefined;
    /** Code or reason, without contents of messages; in state `failed`. */
    readonly error?: string | undefined;
  };
}

declare module "@holdfast/core" {
  interface EventTypes extends MemoryEvents {}
}
