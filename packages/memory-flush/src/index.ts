export { MEMORY_FILE, MemoryFiles, NOTES_DIRECTORY } from "./files/memory-files.js";
export type { MemoryEvents } from "./memory-events.js";
export { memoryFlush } from "./memory-flush.js";
export type {
  ConsolidationOptions,
  FlushTrigger,
  MemoryFlushOptions,
} from "./memory-flush-options.js";
