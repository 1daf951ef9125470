import type { TokenCounter } from "@holdfast/core";
import type { FileNamespace } from "@holdfast/core/plugin-kit";
import type { MemoryFiles } from "../files/memory-files.js";

/** What the memory's tools work with. */
export interface MemoryToolParts {
  readonly files: MemoryFiles;
  /** The agent's clock. */
  now(): Date;
  counter(): TokenCounter;
  /** What `MEMORY.md` may hold. */
  readonly maxTokens: number;
  readonly agentId: string;
  /** Told after something was saved. */
  saved(namespace: FileNamespace): void;
}
