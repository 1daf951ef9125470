import type { ReActAgent } from "@holdfast/core";

/** Methods of an agent that the handlers use; `ReActAgent` and `HarnessAgent` have them. */
export type ServedAgent = Pick<
  ReActAgent,
  | "attach"
  | "contextWindow"
  | "deleteSession"
  | "getAgentState"
  | "history"
  | "interrupt"
  | "name"
  | "pending"
  | "sessions"
  | "setSession"
  | "steer"
  | "stream"
>;
