import type { AgentEvent } from "@holdfast/core";

/** Options of a worker; its only argument, as JSON. */
export interface WorkerOptions {
  readonly store: string;
  readonly workspace: string;
  readonly contextWindow: number;
  readonly triggerTokens: number;
}

/** Message to a worker. */
export type WorkerCommand =
  | {
      readonly type: "turn";
      readonly callId: string;
      readonly says: string;
      /** Stop in the middle of the reply, to be killed there. */
      readonly isKilled: boolean;
    }
  /** Close the agent and exit. */
  | { readonly type: "end" };

/** Message from a worker. */
export type WorkerMessage =
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
