/** The value layer alone: these tests load without the engine, and go on working while it is being changed. */
export * from "../src/errors/index.js";
export * from "../src/json/json.js";
export * from "../src/message/create-message.js";
export * from "../src/message/message.js";
export * from "../src/message/message-problem.js";
export * from "../src/message/read-message.js";
export * from "../src/message/repair-tool-pairs.js";
export * from "../src/slot/path-segment.js";
export * from "../src/slot/slot.js";
export * from "../src/slot/uuid.js";
export * from "../src/state/interrupt-control.js";
/** With what only the engine uses. */
export { LiveState as AgentState } from "../src/state/live-state.js";
export * from "../src/state/migrate-document.js";
export * from "../src/state/sections.js";
export * from "../src/store-kit/apply-write.js";
