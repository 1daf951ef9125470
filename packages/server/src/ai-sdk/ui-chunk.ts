import type { JsonValue } from "@holdfast/core";
import type { ChatMetadata } from "./ui-message.js";

/** Major version of the AI SDK that the clients use. */
export type AiSdkVersion = 5 | 6 | 7;

/** Reasons that every version of the client accepts; `interrupted` is known to version 7 alone. */
export type UiFinishReason = "stop" | "tool-calls" | "error" | "other" | "interrupted";

/** Chunk of the AI SDK's UI message stream. A client fails at a type that its version does not know. */
export type UiChunk =
  | { readonly type: "start"; readonly messageId: string; readonly messageMetadata?: ChatMetadata }
  | { readonly type: "start-step" | "finish-step" }
  /** Version 7. */
  | { readonly type: "reset-step" }
  | { readonly type: "text-start" | "text-end"; readonly id: string }
  | { readonly type: "text-delta"; readonly id: string; readonly delta: string }
  | { readonly type: "reasoning-start" | "reasoning-end"; readonly id: string }
  | { readonly type: "reasoning-delta"; readonly id: string; readonly delta: string }
  | { readonly type: "file"; readonly mediaType: string; readonly url: string }
  | (ToolName & { readonly type: "tool-input-start" })
  | {
      readonly type: "tool-input-delta";
      readonly toolCallId: string;
      readonly inputTextDelta: string;
    }
  | (ToolName & { readonly type: "tool-input-available"; readonly input: JsonValue })
  | (ToolName & {
      readonly type: "tool-input-error";
      readonly input: JsonValue;
      readonly errorText: string;
    })
  /** Versions 6 and 7. */
  | {
      readonly type: "tool-approval-request";
      readonly approvalId: string;
      readonly toolCallId: string;
    }
  | {
      readonly type: "tool-output-available";
      readonly toolCallId: string;
      readonly output: JsonValue;
      readonly dynamic: true;
    }
  | {
      readonly type: "tool-output-error";
      readonly toolCallId: string;
      readonly errorText: string;
      readonly dynamic: true;
    }
  /** Versions 6 and 7. */
  | { readonly type: "tool-output-denied"; readonly toolCallId: string }
  | {
      readonly type: `data-${string}`;
      readonly id?: string;
      readonly data: JsonValue;
      readonly transient?: true;
    }
  | { readonly type: "message-metadata"; readonly messageMetadata: ChatMetadata }
  | { readonly type: "error"; readonly errorText: string }
  | { readonly type: "abort"; readonly reason?: string }
  | {
      readonly type: "finish";
      readonly finishReason: UiFinishReason;
      readonly messageMetadata: ChatMetadata;
    };

/** Tool call as chunks name it. */
interface ToolName {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly dynamic: true;
}
