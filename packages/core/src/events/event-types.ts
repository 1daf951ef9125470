import type { JsonValue } from "../json/json.js";
import type {
  DataBlock,
  DataSource,
  TextBlock,
  ToolResultState,
  Usage,
} from "../message/message.js";
import type { Repair } from "../message/repair-tool-pairs.js";
import type { CompactionCause } from "../ports/compactor.js";
import type { PendingCall } from "./agent-reply.js";

/**
 * Events by type, with the fields that each has besides those of every event.
 *
 * A package adds its own by declaration merging; from then on `emit` accepts them and every listener gets them typed:
 *
 * @example
 * declare module "@holdfast/core" {
 *   interface EventTypes {
 *     budget_spent: { tokens: number };
 *   }
 * }
 */
export interface EventTypes {
  readonly call_start: NoFields;
  readonly call_end: {
    /** Reason of the reply, or `error`. */
    readonly reason: string;
    readonly usage: Usage;
    readonly durationMs: number;
  };
  readonly queue_wait: { readonly ahead: number };
  /** Emitted when the call holds the lease and has the session's state. */
  readonly state_loaded: {
    /** `cache`: the store confirmed this process's cached copy; `delta`: it told what changed since; `new`: nothing is stored. */
    readonly source: "store" | "delta" | "cache" | "new";
    /** Bytes read from the store; 0 when the cached copy was confirmed. */
    readonly bytes: number;
    readonly messages: number;
    readonly revision: string | null;
    /** Time in the queue; 0 when there was no wait. */
    readonly waitedMs: number;
    /** Time to acquire the lease and load, without the wait. */
    readonly durationMs: number;
  };
  readonly model_call_start: {
    /** Id of the request, the same in its `model_call_end`. */
    readonly requestId: string;
    /** Why the model was called: `reasoning`, or for example `summary` or `memory_flush`. */
    readonly purpose: string;
    readonly model: string;
    readonly messages: number;
    readonly attempt: number;
    /** Id that the reply will have as a message of the conversation; absent for requests whose reply is not one. */
    readonly messageId?: string | undefined;
  };
  readonly model_call_end: {
    readonly requestId: string;
    readonly purpose: string;
    readonly model: string;
    readonly usage: Usage;
    readonly durationMs: number;
    /** Tokens of the request and its reply, which the next request repeats; absent where the model counts none. */
    readonly contextTokens?: number | undefined;
    /** Tokens of the model's context window, if known. */
    readonly contextWindow?: number | undefined;
    /** Name of the error; absent when it succeeded. */
    readonly error?: string | undefined;
  };
  /**
   * Takes back what a request has streamed: its text, thinking, files and tool calls are not part of the reply. Comes
   * after its `model_call_end`, before anything else is streamed.
   */
  readonly attempt_discarded: {
    readonly requestId: string;
    /** Id that the reply would have had. */
    readonly messageId: string;
    readonly attempt: number;
    /**
     * - `retry`: the request failed and is sent again. `overflow`: the same, after a compaction.
     * - `failed`: it is not sent again.
     * - `empty_reply`: the reply had neither text nor a tool call.
     * - `invalid_output`: the reply did not fit the output's schema.
     */
    readonly reason: "retry" | "overflow" | "failed" | "empty_reply" | "invalid_output";
    /** Characters of all its `text_delta` events. */
    readonly textChars: number;
    /** Characters of all its `thinking_delta` events. */
    readonly thinkingChars: number;
    /** Number of its `data` events. */
    readonly files: number;
    /** Ids of all its `tool_call_start` events; none of these calls runs. */
    readonly toolCallIds: readonly string[];
  };
  readonly text_delta: {
    readonly text: string;
    /** Id of the message that the piece is part of. */
    readonly messageId: string;
    /** Id of its block, unique within the call; pieces of one block come in a row. */
    readonly blockId: string;
  };
  readonly thinking_delta: {
    readonly text: string;
    readonly messageId: string;
    readonly blockId: string;
  };
  /** File the model made. */
  readonly data: {
    readonly messageId: string;
    readonly mediaType: string;
    readonly source: DataSource;
    readonly name?: string | undefined;
  };
  readonly tool_call_start: {
    readonly toolCallId: string;
    readonly name: string;
    readonly messageId: string;
  };
  readonly tool_call_delta: { readonly toolCallId: string; readonly inputDelta: string };
  readonly tool_call_end: {
    readonly toolCallId: string;
    readonly name: string;
    readonly input: JsonValue;
  };
  /** Progress that a running tool reported; of values in quick succession, the last. */
  readonly tool_progress: {
    readonly toolCallId: string;
    readonly name: string;
    readonly progress: JsonValue;
  };
  readonly tool_result: {
    readonly toolCallId: string;
    readonly name: string;
    readonly state: ToolResultState;
    readonly durationMs: number;
    /** Output as the model gets it, after all hooks that change a result; at most 65,536 characters. */
    readonly output: readonly (TextBlock | DataBlock)[];
    /** Number of characters of the output that were left out here; absent when it is whole. */
    readonly truncated?: { readonly chars: number } | undefined;
    /**
     * Error that the tool threw, or gave as the cause of its result, for logs; neither the model nor the conversation gets the stack. Without a stack, and with the
     * text of the result as message, when an `onIncoming` hook changed the result.
     */
    readonly error?:
      | { readonly name: string; readonly message: string; readonly stack?: string }
      | undefined;
  };
  /** Emitted when a compactor throws before a step of reasoning, and by compactors that report their failures. */
  readonly compaction_failed: {
    readonly cause: CompactionCause;
    /** Code or reason, without contents of messages. */
    readonly error: string;
  };
  readonly overflow_recovery: { readonly recovered: boolean };
  /** Tool calls wait for their results from outside, or for answers to their questions; the call ends with `tool_suspended`. */
  readonly tool_suspended: { readonly pending: readonly PendingCall[] };
  readonly permission_ask: { readonly pending: readonly PendingCall[] };
  readonly state_saved: {
    readonly bytes: number;
    readonly durationMs: number;
    readonly revision: string;
    readonly final: boolean;
  };
  /** Stands in a stream, and there alone, for events that were dropped: not read in time, or not kept by the event feed. */
  readonly events_dropped: {
    /** Number of events dropped. */
    readonly count: number;
  };
  /**
   * Stands in the events of `agent.attach`, and there alone: the process of the run, which `runId` names, died. The events of a
   * run that goes on with it follow, when there is one. Has the number of the event before it.
   */
  readonly run_lost: NoFields;
  /** A run was found that had begun and never ended, because its process died or its save failed. */
  readonly takeover: {
    readonly lostCallId: string;
    /** Absent for a run of an earlier release. */
    readonly lostRunId?: string | undefined;
    /** True when what the run had saved was taken back; false when the session goes on from it. */
    readonly rolledBack: boolean;
  };
  /** The call goes on with an earlier run of its own, which had no reply. */
  readonly run_resumed: {
    /** Absent for a run of an earlier release. */
    readonly resumedRunId?: string | undefined;
    /** End of that run: `error`, also when its process died, or `shutdown`. */
    readonly reason: string;
    /**
     * Ids of the messages of that run that this one goes on from: its input, and what it had saved; none when it had saved
     * nothing. What else it streamed is not part of the reply.
     */
    readonly messageIds: readonly string[];
  };
  /** A run whose process had died was continued on this node, with `recover`. */
  readonly run_recovered: {
    /** Number of the attempt, from 1. */
    readonly attempt: number;
    /** Reason of the reply. */
    readonly reason: string;
    readonly durationMs: number;
  };
  /** An attempt to continue a run whose process had died failed. */
  readonly run_recovery_failed: {
    readonly attempt: number;
    /** Code of the error, or its name; `PROCESS_DIED` when the node of the last attempt died as well. */
    readonly code: string;
    /** True when there will be no further attempt. */
    readonly gaveUp: boolean;
  };
  /** The event's session was made by `agent.fork`. */
  readonly session_forked: {
    /** Id of the session that it is a fork of. */
    readonly from: string;
    /** Number of messages in its context. */
    readonly messages: number;
  };
  /** Messages given to `agent.steer` have entered the context. */
  readonly steered: { readonly messageIds: readonly string[] };
  readonly store_rolled_back: { readonly known: string; readonly stored: string };
  readonly repaired: { readonly repairs: readonly Repair[] };
  readonly interrupted: {
    readonly kind: "interrupt" | "rollback" | "shutdown" | "abort" | "lease_lost";
  };
  readonly error: { readonly code: string; readonly message: string };
}

/** Fields of an event that has none of its own. */
type NoFields = Record<never, never>;
