import type { ReActAgent } from "@holdfast/core";

/** Methods of an agent that an editor needs; `ReActAgent` and `HarnessAgent` have them. */
export type AcpAgent = Pick<
  ReActAgent,
  | "deleteSession"
  | "enterPlanMode"
  | "exitPlanMode"
  | "getAgentState"
  | "history"
  | "interrupt"
  | "pending"
  | "resume"
  | "sessions"
  | "setPermissionMode"
  | "setSession"
  | "stream"
>;
