export type { EvictionEvents } from "./eviction-events.js";
export { type Eviction, evictionOf } from "./eviction-metadata.js";
export { defaultExclude, type EvictionOptions, type ExcludedTools } from "./eviction-options.js";
export { toolResultEviction } from "./tool-result-eviction.js";
