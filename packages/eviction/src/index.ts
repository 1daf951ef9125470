export { type Eviction, evictionOf } from "./eviction-metadata.js";
export type { EvictionOptions, ExcludedTools } from "./eviction-options.js";
export { defaultExclude } from "./excluded-tools.js";
export { toolResultEviction } from "./tool-result-eviction.js";
