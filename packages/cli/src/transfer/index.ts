export { parseSessionLine } from "./check-line.js";
export { readSession } from "./read-session.js";
export type { SessionSummary } from "./session-digest.js";
export type {
  MessageLine,
  RecordLine,
  SessionEnd,
  SessionHeader,
  SessionLine,
} from "./session-line.js";
export { type WriteSessionOptions, type WrittenSession, writeSession } from "./write-session.js";
