import type { Tool } from "@holdfast/core";
import { memoryGetTool } from "./memory-get.js";
import { memorySaveTool } from "./memory-save.js";
import { memorySearchTool } from "./memory-search.js";
import type { MemoryToolParts } from "./memory-tool-parts.js";

export type { MemoryToolParts } from "./memory-tool-parts.js";

/** The tools with which a model uses the memory: `memory_search`, `memory_get` and `memory_save`. */
export function memoryTools(parts: MemoryToolParts): Tool[] {
  return [memorySearchTool(parts), memoryGetTool(parts), memorySaveTool(parts)];
}
