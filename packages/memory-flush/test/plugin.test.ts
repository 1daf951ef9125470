import { describePlugin } from "@holdfast/testing";
import { memoryFlush } from "../src/index.js";

describePlugin("memory-flush", {
  create: () => memoryFlush({ flushTrigger: "always", consolidation: { minGapMs: 0 } }),
  events: ["memory_flush_start", "memory_flush_end", "memory_flush_failed", "consolidation"],
  toolCalls: [{ name: "memory_search", input: { query: "canary" } }],
});
