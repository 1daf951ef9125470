import type { JsonValue } from "../json/json.js";
import type { DataSource, ToolResultState, Usage } from "../message/message.js";
import type { Repair } from "../message/repair-tool-pairs.js";
import type { CompactionCause } from "../ports/compactor.js";
import type { Slot } from "../slot/slot.js";
import type { PendingCall } from "./agent-reply.js";

/** Fields of every event. */
export interface EventEnvelope {
  readonly slot: Slot;
  readonly callId: string;
  /** 0, 1, 2 … within the call, without gaps; `call_end` has the last one. */
  readonly seq: number;
  /** Set on events of background work, which no caller waits for; they are sent to `onEvent` only. */
  readonly background?: true | undefined;
}

/** Event without its envelope, as hooks emit it. */
export type EventBody =
  | { readonly type: "call_start" }
  | {
      readonly type: "call_end";
      /** Reason of the reply, or `error`. */
      readonly reason: string;
      readonly usage: Usage;
      readonly durationMs: number;
    }
  | { readonly type: "queue_wait"; readonly ahead: number }
  | {
      /** Emitted when the call holds the lease and has the session's state. */
      readonly type: "state_loaded";
      /** `cache`: the store confirmed this process's cached copy; `new`: nothing is stored. */
      readonly source: "store" | "cache" | "new";
      /** Bytes read from the store; 0 when the cached copy was confirmed. */
      readonly bytes: number;
      readonly messages: number;
      readonly revision: string | null;
      /** Time in the queue; 0 when there was no wait. */
      readonly waitedMs: number;
      /** Time to acquire the lease and load, without the wait. */
      readonly durationMs: number;
    }
  | {
      readonly type: "model_call_start";
      /** Id of the request, the same in its `model_call_end`. */
      readonly requestId: string;
      /** Why the model was called: `reasoning`, or for example `summary` or `memory_flush`. */
      readonly purpose: string;
      readonly model: string;
      readonly messages: number;
      readonly attempt: number;
    }
  | {
      readonly type: "model_call_end";
      readonly requestId: string;
      readonly purpose: string;
      readonly model: string;
      readonly usage: Usage;
      readonly durationMs: number;
      /** Name of the error; absent when it succeeded. */
      readonly error?: string | undefined;
    }
  | { readonly type: "text_delta"; readonly text: string }
  | { readonly type: "thinking_delta"; readonly text: string }
  | {
      /** File the model made. */
      readonly type: "data";
      readonly mediaType: string;
      readonly source: DataSource;
      readonly name?: string | undefined;
    }
  | { readonly type: "tool_call_start"; readonly toolCallId: string; readonly name: string }
  | { readonly type: "tool_call_delta"; readonly toolCallId: string; readonly inputDelta: string }
  | {
      readonly type: "tool_call_end";
      readonly toolCallId: string;
      readonly name: string;
      readonly input: JsonValue;
    }
  | {
      readonly type: "tool_result";
      readonly toolCallId: string;
      readonly name: string;
      readonly state: ToolResultState;
      readonly durationMs: number;
    }
  | {
      readonly type: "tool_result_evicted";
      readonly toolCallId: string;
      readonly name: string;
      readonly chars: number;
      readonly reference: string;
    }
  | {
      readonly type: "compaction_start";
      readonly cause: CompactionCause;
      readonly messages: number;
      readonly tokens: number;
    }
  | {
      readonly type: "compaction_end";
      readonly cause: CompactionCause;
      /** Steps taken, for example `truncate_args`, `prune`, `summary`. */
      readonly actions: readonly string[];
      readonly messagesBefore: number;
      readonly messagesAfter: number;
      readonly tokensBefore: number;
      readonly tokensAfter: number;
      readonly durationMs: number;
      /** Usage of the model calls made for it. */
      readonly usage?: Usage | undefined;
    }
  | {
      readonly type: "compaction_failed";
      readonly cause: CompactionCause;
      /** Code or reason, without contents of messages. */
      readonly error: string;
    }
  | { readonly type: "overflow_recovery"; readonly recovered: boolean }
  | { readonly type: "permission_ask"; readonly pending: readonly PendingCall[] }
  | {
      readonly type: "state_saved";
      readonly bytes: number;
      readonly durationMs: number;
      readonly revision: string;
      readonly final: boolean;
    }
  | { readonly type: "store_rolled_back"; readonly known: string; readonly stored: string }
  | { readonly type: "repaired"; readonly repairs: readonly Repair[] }
  | {
      readonly type: "interrupted";
      readonly kind: "interrupt" | "rollback" | "shutdown" | "abort" | "lease_lost";
    }
  | { readonly type: "memory_flush_start" }
  | {
      readonly type: "memory_flush_end";
      /** Number of facts written; 0 when there was nothing to remember. */
      readonly entries: number;
      readonly usage?: Usage | undefined;
    }
  | { readonly type: "memory_flush_failed"; readonly error: string }
  | {
      readonly type: "consolidation";
      readonly state: "start" | "end" | "failed";
      /** Usage of the model calls made for it; in state `end`. */
      readonly usage?: Usage | undefined;
      /** Code or reason, without contents of messages; in state `failed`. */
      readonly error?: string | undefined;
    }
  | { readonly type: "error"; readonly code: string; readonly message: string };

/** Event of a call, discriminated by `type`. */
export type AgentEvent = EventBody & EventEnvelope;
