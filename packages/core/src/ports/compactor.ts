import type { RuntimeContext } from "../context/runtime-context.js";
import type { JsonObject } from "../json/json.js";
import type { Message } from "../message/message.js";
import type { AgentState } from "../state/agent-state.js";

/** Why a compaction is asked for. */
export type CompactionCause = "manual" | "overflow";

/** What a {@link Compactor} works on. */
export interface CompactionRequest {
  readonly state: AgentState;
  readonly ctx: RuntimeContext;
  readonly cause: CompactionCause;
  /** Compact even below the trigger. */
  readonly force: boolean;
  /** One-off options of the caller. */
  readonly overrides: JsonObject;
  readonly signal: AbortSignal;
  /** To be awaited with the messages before they leave the context: runs the `onContextDrop` chain. */
  dropping(messages: readonly Message[]): Promise<void>;
}

/** What came of a compaction. */
export interface CompactionResult {
  /** `false`: the context is as it was. */
  readonly compacted: boolean;
  readonly messagesBefore: number;
  readonly messagesAfter: number;
}

/**
 * Shortens a context on demand.
 *
 * Contract: edits nothing but the state's context, keeps tool pairs whole and the current request in; on failure the
 * context is as it was.
 */
export interface Compactor {
  compact(request: CompactionRequest): Promise<CompactionResult>;
}
