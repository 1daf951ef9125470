import type { RuntimeContext } from "../context/runtime-context.js";
import type { JsonValue } from "../json/json.js";
import type { Slot } from "../slot/slot.js";
import type { ToolAnswer } from "./question.js";

/** Context of a running tool: that of its call, with the session and the id of the tool call. */
export interface ToolCallContext extends RuntimeContext {
  /** Session that the tool was called in. It comes from the call, never from arguments, which the model writes. */
  readonly slot: Slot;
  /** Namespace of the agent's sessions; the same as `slot.agentId`. */
  readonly agentId: string;
  /**
   * Id of this tool call, unique among all sessions: the idempotency key of what the tool does outside.
   *
   * It stays the same when the call runs again: after an approval, after a shutdown, or on another node. A call whose outcome is unknown keeps its id in the conversation; when the model calls the tool
   * once more, that is another call with another id.
   */
  readonly toolCallId: string;
  /** Answers of a person to what this call has asked with `suspend(reason, { question })` so far, in order. */
  readonly answers: readonly ToolAnswer[];
  /**
   * Reports how far the tool is, as the event `tool_progress`: a number, a text, or anything JSON can hold. Listeners get the
   * first value at once and from then on the latest, at most every 100 ms; what is longer than 16,384 characters is cut. It
   * never throws or waits, and does nothing once the tool has ended. No hook sees the value, and neither does the model.
   */
  progress(value: JsonValue): void;
}
