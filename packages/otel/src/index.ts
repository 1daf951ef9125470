export { type ModelDescription, modelDescription } from "./model-description.js";
export { otel } from "./otel.js";
export type { OtelOptions, RecordIds, SpanInfo, SpanSubject } from "./otel-options.js";
