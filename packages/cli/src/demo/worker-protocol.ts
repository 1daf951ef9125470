import type { AgentEvent } from "@holdfast/core";

/** How a worker is set up; its only argument, as JSON. */
export interface WorkerOptions {
  readonly store: string;
  readonly workspace: string;
  readonly contextWindow: number;
  readonly triggerTokens: number;
}

/** What a worker is told to do. */
export type Order =
  | {
      readonly type: "turn";
      readonly callId: string;
      readonly says: string;
      /** Stop in the middle of the reply, to be killed there. */
      readonly isKilled: boolean;
    }
  /** Close the agent and end. */
  | { readonly type: "end" };

/** What a worker tells. */
export type News =
  | { readonly type: "ready" }
  | { readonly type: "event"; readonly event: AgentEvent }
  | {
      readonly type: "reply";
      readonly callId: string;
      readonly text: string;
      /** Tokens of the system prompt and the tools, before the first message. */
      readonly promptTokens: number;
    }
  | { readonly type: "failed"; readonly message: string };
