import type { JsonObject } from "../json/json.js";
import type { Message } from "../message/message.js";
import type { RepairedMessages } from "../message/repair-tool-pairs.js";
import type { ContextDelta, ContextEditor, MessageMeasure } from "./context-editor.js";
import type { InterruptControl } from "./interrupt-control.js";
import { LiveState } from "./live-state.js";
import type {
  Extensions,
  OpenCalls,
  PermissionContext,
  PlanModeContext,
  TasksContext,
  ToolContext,
} from "./sections.js";

/**
 * Everything mutable about one session: what makes it restartable in any process.
 *
 * Contract:
 * - `context` is a frozen list; edit it through {@link AgentState.contextMutable}, which knows what changed since the last
 *   save, and read it again after an edit.
 * - Everything that enters is checked: a message or a section that could not be stored is refused with an
 *   `InvalidInputError` that names the field and what is accepted. A section that was edited in place is checked before the
 *   next save.
 * - The summary is a message: role user, one hint from `summary`, always at index 0, at most one.
 * - `interruptControl` is transient and never serialised.
 * - Fields that this release does not know survive a round trip.
 *
 * @example
 * const state = AgentState.fromJsonString(text);
 * state.contextMutable().push(userMessage("hello"));
 */
export interface AgentState {
  readonly sessionId: string;
  /** `null` for an anonymous session. */
  readonly userId: string | null;
  /** Messages the model sees, oldest first, as they are now: a frozen list, which an edit of the context replaces. */
  readonly context: readonly Message[];
  /** Returns the editor of {@link AgentState.context}. */
  contextMutable(): ContextEditor;
  /** Text of the summary message, or null when there is none. Setting null removes it. */
  summary: string | null;
  permissionContext: PermissionContext;
  planModeContext: PlanModeContext;
  tasksContext: TasksContext;
  toolContext: ToolContext;
  /**
   * Problems found when the state was read with `salvage: true`; what they name is missing here. Empty for a sound state.
   */
  readonly damage: readonly string[];
  /** State of plugins by plugin name; plugins reach theirs through `host.state`. */
  extensions: Extensions;
  /** Unanswered tool calls of the last assistant message. */
  openCalls: OpenCalls;
  /** True when a graceful shutdown cut the last call short; the next call resumes it. */
  shutdownInterrupted: boolean;
  /** Transient; the engine puts the running call's control here. */
  interruptControl: InterruptControl;
  /**
   * Returns the document without its messages, as a store keeps it: a frozen copy.
   *
   * @throws InvalidInputError when a section does not have its form, or cannot be kept as JSON
   */
  head(): JsonObject;
  /** Returns what a save has to carry about the messages: which stored ones stay, change, or are followed by others. */
  contextDelta(): ContextDelta;
  /** Notes an acknowledged save: what `saved` described, or else everything, is now stored. */
  markSaved(saved?: ContextDelta): void;
  /** Returns the bytes of the messages as JSON; costs what was added since it was last asked. */
  contextBytes(): number;
  /**
   * Returns `measure` summed over the context, for example tokens. It costs what was added since the same function was
   * last asked about, in whichever call; use one function for all sessions, because sums are kept by it.
   */
  contextSum(measure: MessageMeasure): number;
  /** Returns the context as a model request needs it, with every tool call paired. */
  pairedContext(): RepairedMessages;
  /** Returns the whole document as a JSON value. */
  toJSON(): JsonObject;
  /** Returns the whole document as text. */
  toJsonString(): string;
  /** Alias of {@link AgentState.toJsonString}. */
  toJson(): string;
  /** Returns a detached state with the same contents; messages are shared, being immutable. */
  copy(): AgentState;
}

/** Ways to make an {@link AgentState}. */
export interface AgentStateFactory {
  /** Makes a state with nothing in it. */
  create(ids: { readonly sessionId: string; readonly userId?: string | null }): AgentState;
  /**
   * Makes a state of what a store returned; everything in it counts as stored.
   *
   * @throws StateCorruptError | StateTooNewError
   */
  fromParts(parts: {
    readonly head: JsonObject;
    readonly messages: readonly Message[];
  }): AgentState;
  /**
   * Reads what {@link AgentState.toJsonString} wrote; nothing in it counts as stored.
   *
   * @throws StateCorruptError when it is not a state document
   * @throws StateTooNewError when only a newer release may read it
   */
  fromJsonString(text: string): AgentState;
  /** Reads what {@link AgentState.toJSON} returned, and copies it. Throws as `fromJsonString`. */
  fromJson(value: unknown): AgentState;
}

// A value beside the interface: a class would make the types of two installed copies of this package incompatible.
export const AgentState: AgentStateFactory = LiveState;
