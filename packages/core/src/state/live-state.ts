import { InvalidInputError } from "../errors/errors.js";
import { StateCorruptError } from "../errors/store-errors.js";
import type { JsonObject } from "../json/json.js";
import type { Message } from "../message/message.js";
import { messageBytes } from "../message/read-message.js";
import type { RepairedMessages } from "../message/repair-tool-pairs.js";
import type { CallRecord, LoadedState, StateChange } from "../ports/agent-state-store.js";
import { checkId } from "../slot/slot.js";
import { checkWrite } from "../store-kit/apply-write.js";
import type { AgentState } from "./agent-state.js";
import {
  type ContextDelta,
  type ContextEditor,
  type MessageMeasure,
  TrackedContext,
} from "./context-editor.js";
import { emptyHead, readHead, type Salvage, type StateHead, savedHead } from "./head.js";
import { type InterruptControl, InterruptTrigger } from "./interrupt-control.js";
import { copyDocument, parseDocument } from "./read-document.js";
import { kindOf, sectionProblem } from "./section-checks.js";
import type { RunRecord } from "./sections.js";
import { StateSections } from "./state-sections.js";
import { soundMessages, storedMessage, storedMessages } from "./stored-messages.js";
import { summaryBlock, summaryMessage } from "./summary-message.js";

/** Parts of a state as a store returns them. */
export type StoredParts = Pick<LoadedState, "head" | "messages" | "callRecords" | "info">;

/**
 * The state of a session as the engine works on it: an {@link AgentState} that also knows which part of its context the
 * store holds, what the conversation log has not seen, and which runs it remembers.
 */
export class LiveState extends StateSections implements AgentState {
  #tracked: TrackedContext;
  /** True once the context went to a {@link successor} and must not be changed from here any more. */
  #handedOver = false;
  readonly #editor: ContextEditor = editorOf(() => this.#context);
  /** Transient; the engine puts the running call's control here. */
  interruptControl: InterruptControl = new InterruptTrigger();

  /** Title that listings show of the session; transient, stored beside the head. */
  listedTitle: string | undefined;

  /** Records of calls that the store keeps beside the head, newest first. */
  readonly #records: readonly RunRecord[];

  private constructor(
    head: StateHead,
    context: TrackedContext,
    records: readonly RunRecord[] = [],
  ) {
    super(head);
    this.#tracked = context;
    this.#records = records;
  }

  #damage: readonly string[] = [];

  get #context(): TrackedContext {
    if (this.#handedOver) {
      this.#tracked = this.#tracked.copy();
      this.#handedOver = false;
    }
    return this.#tracked;
  }

  /** A state with nothing in it. */
  static create(ids: { readonly sessionId: string; readonly userId?: string | null }): LiveState {
    const userId = ids.userId ?? null;
    return new LiveState(
      emptyHead(
        checkId(ids.sessionId, "sessionId"),
        userId === null ? null : checkId(userId, "userId"),
      ),
      new TrackedContext([], 0),
    );
  }

  /**
   * A state made of what a store returned; everything in it counts as stored.
   *
   * @throws StateCorruptError | StateTooNewError
   */
  static fromParts(parts: StoredParts): LiveState {
    // The head first: it knows when only a newer release can read the messages.
    const head = readHead(parts.head);
    const messages = storedMessages(parts.messages);
    const state = new LiveState(
      head,
      new TrackedContext(messages, messages.length),
      recordsIn(parts),
    );
    state.listedTitle = parts.info?.title;
    return state;
  }

  /**
   * The state after what another process has saved since; takes the context over, as {@link successor} does.
   *
   * @param change - starts from what this state holds, all of which is stored
   * @throws StateCorruptError | StateTooNewError; this state is then as it was
   */
  advanced(change: StateChange): LiveState {
    const head = readHead(change.head);
    if (head.sessionId !== this.sessionId || head.userId !== this.userId)
      throw new StateCorruptError("the store returned the state of another session");
    checkWrite(change, this.messages.length);
    const delta: ContextDelta = {
      keep: change.keep,
      replace: change.replace.map(([index, message]) => [index, storedMessage(message, index)]),
      append: change.append.map((message, index) => storedMessage(message, change.keep + index)),
    };
    const next = new LiveState(head, this.#context, recordsIn(change));
    this.#handedOver = true;
    next.listedTitle = change.info === undefined ? this.listedTitle : change.info.title;
    next.#tracked.advance(delta);
    return next;
  }

  /**
   * As {@link fromParts}, but leaves out what cannot be read and names it in {@link damage}.
   *
   * @param slot - ids that the state is stored under
   * @throws StateTooNewError
   */
  static salvage(parts: StoredParts, slot: Salvage["slot"]): LiveState {
    const salvage: Salvage = { slot, damage: [] };
    const head = readHead(parts.head, salvage);
    if (head.sessionId !== slot.sessionId || head.userId !== slot.userId) {
      salvage.damage.push("sessionId or userId is that of another session");
      Object.assign(head, slot);
    }
    const { messages, sound } = soundMessages(parts.messages, salvage.damage);
    const state = new LiveState(head, new TrackedContext(messages, sound), recordsIn(parts));
    state.#damage = salvage.damage;
    state.listedTitle = parts.info?.title;
    return state;
  }

  /**
   * The inverse of {@link toJsonString}; nothing in it counts as stored.
   *
   * @throws StateCorruptError when it is not a state document
   * @throws StateTooNewError when only a newer release may read it
   */
  static fromJsonString(text: string): LiveState {
    return LiveState.#fromDocument(parseDocument(text));
  }

  /** The inverse of {@link toJSON}; copies what it is given. Throws as {@link fromJsonString}. */
  static fromJson(value: unknown): LiveState {
    return LiveState.#fromDocument(copyDocument(value));
  }

  static #fromDocument({ context, ...head }: Record<string, unknown>): LiveState {
    return new LiveState(readHead(head), new TrackedContext(storedMessages(context), 0));
  }

  /** Problems found when the state was read as far as it went; empty for a sound one. */
  get damage(): readonly string[] {
    return this.#damage;
  }

  /** The messages the model sees, oldest first: a frozen list of how they are now. */
  get context(): readonly Message[] {
    return this.#context.shown;
  }

  /** The same messages without a copy, for readers in the engine that neither keep the list nor hand it out. */
  get messages(): readonly Message[] {
    return this.#context.messages;
  }

  /** The editor of {@link context}. */
  contextMutable(): ContextEditor {
    return this.#editor;
  }

  /** The text of the summary message, or null when there is none. Setting null removes it. */
  get summary(): string | null {
    return summaryBlock(this.messages[0])?.text ?? null;
  }

  set summary(text: string | null) {
    if (text !== null && typeof text !== "string")
      throw new InvalidInputError(`state.summary must be a string or null, got ${kindOf(text)}`);
    const replacement = text === null ? [] : [summaryMessage(text)];
    // One that stands elsewhere, with something put in front of it, is not to become a second one.
    for (let index = this.messages.length - 1; index > 0; index--)
      if (summaryBlock(this.messages[index])) this.#context.splice(index, 1);
    const present = summaryBlock(this.messages[0]) !== undefined;
    if (present && replacement[0]) this.#context.replace(0, replacement[0]);
    else this.#context.splice(0, present ? 1 : 0, ...replacement);
  }

  /** Records of calls: those in the head, then those that the store keeps beside it, each newest first. */
  get callRecords(): readonly RunRecord[] {
    return [...this.ownHead.finishedCalls.toReversed(), ...this.#records];
  }

  /** True when the store keeps records of this session's calls beside the head. */
  get hasCallRecords(): boolean {
    return this.#records.length > 0;
  }

  /** Characters that the records beside the head take as JSON, approximately. */
  recordChars(): number {
    let chars = 0;
    for (const { inputIds = [], callId } of this.#records)
      chars += 300 + callId.length + 40 * inputIds.length;
    return chars;
  }

  /** Returns what a save has to carry about the messages. */
  contextDelta(): ContextDelta {
    return this.#context.delta();
  }

  /** Called after an acknowledged save: what `saved` described, or else everything, is now stored. */
  markSaved(saved?: ContextDelta): void {
    this.#context.markSaved(saved);
  }

  /** Bytes of the messages as JSON; costs what was added since it was last asked. */
  contextBytes(): number {
    return this.contextSum(messageBytes);
  }

  /**
   * `measure` summed over the context, for example tokens; costs what was added since the same function was last asked
   * about, whichever call asked. Use one function for all sessions: sums are kept by it.
   */
  contextSum(measure: MessageMeasure): number {
    return this.#context.sum(measure);
  }

  /** The context as a model request needs it, every tool call paired; costs what was added since it was last asked. */
  pairedContext(): RepairedMessages {
    const { messages, repairs } = this.pairedMessages();
    return { messages: messages === this.messages ? this.context : messages, repairs };
  }

  /**
   * As {@link pairedContext}, without a copy, for readers in the engine that neither keep the list nor hand it out.
   *
   * @param open - ids of calls that may be unanswered
   */
  pairedMessages(open?: ReadonlySet<string>): RepairedMessages {
    return this.#context.paired(open);
  }

  /** Messages pushed since this was last called: what the conversation log has not seen. Used by the engine. */
  takePushed(): readonly Message[] {
    return this.#context.takePushed();
  }

  /** The whole document as a JSON value. */
  toJSON(): JsonObject {
    // Revisions mean something only beside the log of the store that they are from.
    const { lastEnds: _, ...head } = this.head();
    return { ...head, context: [...this.messages] as unknown as JsonObject[] };
  }

  /** The whole document as text. */
  toJsonString(): string {
    return JSON.stringify(this);
  }

  /** Alias of {@link toJsonString}. */
  toJson(): string {
    return this.toJsonString();
  }

  /**
   * A state for the next call with the same contents, stored as this one is. It takes the context over: a holder
   * of this state, such as a tool that outlived its call, works on a copy from then on, made when it is needed.
   *
   * @param saved - the head as it was saved, if it was
   * @param added - record that the store keeps from now on, and how many it keeps
   */
  successor(
    saved: string = JSON.stringify(this.head()),
    added?: { readonly record: RunRecord; readonly keep: number },
  ): LiveState {
    const head = savedHead(this.ownHead, saved);
    const records = added
      ? [added.record, ...this.#records.filter(({ callId }) => callId !== added.record.callId)]
      : this.#records;
    const next = new LiveState(head, this.#context, records.slice(0, added?.keep));
    next.listedTitle = this.listedTitle;
    this.#handedOver = true;
    return next;
  }

  /** A state of its own with the same contents; messages are shared, being immutable. */
  copy(): LiveState {
    const head = readHead(JSON.parse(JSON.stringify(this.head())));
    return new LiveState(head, new TrackedContext([...this.messages], 0), this.#records);
  }
}

function recordsIn({ callRecords = [] }: Pick<StoredParts, "callRecords">): readonly RunRecord[] {
  const isRecordOfRun = (record: CallRecord) => sectionProblem("resumableRun", record) === null;
  return callRecords.filter(isRecordOfRun) as unknown as readonly RunRecord[];
}

/** An editor of whatever context a state has at the moment. */
function editorOf(context: () => TrackedContext): ContextEditor {
  return {
    get length() {
      return context().length;
    },
    push: (...messages) => context().push(...messages),
    replace: (index, message) => context().replace(index, message),
    splice: (start, deleteCount, ...messages) => context().splice(start, deleteCount, ...messages),
    replaceAll: (messages) => context().replaceAll(messages),
  };
}
