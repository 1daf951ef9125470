import type { JsonValue } from "@holdfast/core";

/** Question to a person, with which a run ends. */
export interface AgUiInterrupt {
  /** Id of the tool call that asks; for its question with the number of that, `<toolCallId>#<number>`. */
  readonly id: string;
  readonly reason: string;
  readonly message?: string;
  readonly toolCallId?: string;
  readonly responseSchema?: Readonly<Record<string, unknown>>;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** End of a run. */
export type AgUiOutcome =
  | { readonly type: "success"; readonly pendingToolCallIds?: readonly string[] }
  | { readonly type: "interrupt"; readonly interrupts: readonly AgUiInterrupt[] }
  | { readonly type: "cancelled" };

/** Usage of one model. */
export interface AgUiUsage {
  readonly model?: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens?: number;
}

/** Event of AG-UI 1.0, as far as this package sends it. */
export type AgUiEvent =
  | {
      readonly type: "RUN_STARTED";
      readonly threadId: string;
      readonly runId: string;
      readonly protocolVersion?: string;
    }
  | {
      readonly type: "RUN_FINISHED";
      readonly threadId: string;
      readonly runId: string;
      readonly outcome?: AgUiOutcome;
      readonly usage?: readonly AgUiUsage[];
    }
  | { readonly type: "RUN_ERROR"; readonly message: string; readonly code?: string }
  | { readonly type: "STEP_STARTED" | "STEP_FINISHED"; readonly stepName: string }
  | { readonly type: "TEXT_MESSAGE_START"; readonly messageId: string; readonly role: "assistant" }
  | { readonly type: "TEXT_MESSAGE_CONTENT"; readonly messageId: string; readonly delta: string }
  | { readonly type: "TEXT_MESSAGE_END"; readonly messageId: string }
  | {
      readonly type: "REASONING_START" | "REASONING_MESSAGE_END" | "REASONING_END";
      readonly messageId: string;
    }
  | {
      readonly type: "REASONING_MESSAGE_START";
      readonly messageId: string;
      readonly role: "reasoning";
    }
  | {
      readonly type: "REASONING_MESSAGE_CONTENT";
      readonly messageId: string;
      readonly delta: string;
    }
  | {
      readonly type: "TOOL_CALL_START";
      readonly toolCallId: string;
      readonly toolCallName: string;
      readonly parentMessageId: string;
    }
  | { readonly type: "TOOL_CALL_ARGS"; readonly toolCallId: string; readonly delta: string }
  | { readonly type: "TOOL_CALL_END"; readonly toolCallId: string }
  | {
      readonly type: "TOOL_CALL_RESULT";
      readonly messageId: string;
      readonly toolCallId: string;
      readonly role: "tool";
      readonly content: string;
    }
  | { readonly type: "STATE_SNAPSHOT"; readonly snapshot: JsonValue }
  | {
      readonly type: "ACTIVITY_SNAPSHOT";
      readonly messageId: string;
      readonly activityType: string;
      readonly content: Readonly<Record<string, unknown>>;
    }
  | { readonly type: "CUSTOM"; readonly name: string; readonly value: JsonValue };
