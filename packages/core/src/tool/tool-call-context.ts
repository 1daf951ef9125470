import type { RuntimeContext } from "../context/runtime-context.js";
import type { Slot } from "../slot/slot.js";

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
}
