export * from "./blobs.js";
export * from "./call-outcomes.js";
export * from "./cut-text.js";
export * from "./log-range.js";
export * from "./log-record.js";
export { outcomeIn } from "./outcome-signs.js";
export * from "./search-text.js";
export * from "./with-blobs.js";
