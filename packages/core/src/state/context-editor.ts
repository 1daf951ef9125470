import { InvalidInputError } from "../errors/errors.js";
import { adoptMessage } from "../message/create-message.js";
import type { Message } from "../message/message.js";
import { toolCallsOf } from "../message/read-message.js";
import { type RepairedMessages, repairToolPairs } from "../message/repair-tool-pairs.js";

/** Changes that turn the stored messages into the present ones: the part of a save about messages. */
export interface ContextDelta {
  /** Stored messages that stay, counted from the start. */
  readonly keep: number;
  /** Stored messages among the kept ones that are replaced. */
  readonly replace: readonly (readonly [index: number, message: Message])[];
  /** Messages that follow the kept ones. */
  readonly append: readonly Message[];
}

/**
 * Edits a context and knows which part of it the store already holds.
 *
 * Contract:
 * - Messages are immutable values: change one by replacing it. Every message is checked when it enters; one that is not
 *   frozen throughout enters as a frozen copy.
 * - `push` leaves everything stored as it is, `replace` marks one message, `splice` and `replaceAll` keep the stored
 *   part up to the first message that is no longer the same object.
 * - `push` is for what was newly said: the engine writes pushed messages to the conversation log. The others rewrite
 *   what is already there and log nothing.
 */
export interface ContextEditor {
  readonly length: number;
  /** @throws InvalidInputError when one of them is not a message */
  push(...messages: readonly Message[]): void;
  /** @throws InvalidInputError when there is no message at `index`, or the new one is none */
  replace(index: number, message: Message): void;
  /**
   * Removes `deleteCount` messages from `start` and puts `messages` there; returns the removed ones. `start` is read as
   * arrays read it: a negative one counts from the end, one past the end means the end.
   */
  splice(start: number, deleteCount: number, ...messages: readonly Message[]): Message[];
  replaceAll(messages: readonly Message[]): void;
}

/** Something about a message that can be added up; the same message always gives the same number. */
export type MessageMeasure = (message: Message) => number;

interface MeasuredSum {
  readonly total: number;
  /** Messages in it, counted from the start. */
  readonly measured: number;
}

/** The messages of a state and how they differ from what the store holds. */
export class TrackedContext implements ContextEditor {
  #messages: Message[];
  /** The messages as they were last shown; null when they have changed since. */
  #shown: readonly Message[] | null = null;
  /** Stored messages still at their place, some perhaps in {@link #replaced}. */
  #keep: number;
  readonly #replaced = new Set<number>();
  /** The last {@link delta}, unless something it described was rewritten since. */
  #described: ContextDelta | null = null;
  /** Pushed and not yet taken by {@link takePushed}. */
  #pushed: Message[] = [];
  /** Sums asked for, by what they measure. */
  #sums = new Map<MessageMeasure, MeasuredSum>();
  /** Messages from the start that are known to be validly paired, with no call left open. */
  #paired = 0;
  /** Ids of the calls in those messages. */
  #pairedCalls = new Set<string>();

  /** @param stored - how many of `messages` the store holds exactly as they are */
  constructor(messages: Message[], stored: number) {
    this.#messages = messages;
    this.#keep = stored;
  }

  /** The messages: the list that the editor changes, for readers in the engine that neither keep it nor hand it out. */
  get messages(): readonly Message[] {
    return this.#messages;
  }

  /** The messages as they are now: a frozen list, so that a write to it throws instead of bypassing the editor. */
  get shown(): readonly Message[] {
    // A copy, since the list that is edited cannot be frozen, and to copy a frozen one takes a hundred times as long.
    this.#shown ??= Object.freeze(this.#messages.slice());
    return this.#shown;
  }

  get length(): number {
    return this.#messages.length;
  }

  push(...messages: readonly Message[]): void {
    const adopted = messages.map(adoptMessage);
    const list = this.#editable();
    for (const message of adopted) {
      list.push(message);
      this.#pushed.push(message);
    }
  }

  replace(index: number, message: Message): void {
    if (!Number.isInteger(index) || index < 0 || index >= this.#messages.length)
      throw new InvalidInputError(
        `there is no message at index ${index} to replace; the context has ${this.#messages.length}`,
      );
    if (this.#messages[index] === message) return;
    const adopted = adoptMessage(message);
    this.#editable()[index] = adopted;
    if (index < this.#keep) this.#replaced.add(index);
    this.#rewritten(index);
  }

  splice(start: number, deleteCount: number, ...messages: readonly Message[]): Message[] {
    const { length } = this.#messages;
    const from = Math.trunc(start) || 0;
    const at = from < 0 ? Math.max(length + from, 0) : Math.min(from, length);
    const adopted = messages.map(adoptMessage);
    const removed = this.#editable().splice(at, deleteCount, ...adopted);
    const same = commonPrefix(removed, messages);
    if (same < removed.length || same < messages.length) this.#shorten(at + same);
    return removed;
  }

  replaceAll(messages: readonly Message[]): void {
    if (!Array.isArray(messages))
      throw new InvalidInputError("the messages that replace a context must be a list");
    const same = commonPrefix(this.#messages, messages);
    // Not `map`, which would keep the holes of a sparse array.
    const tail = Array.from(messages.slice(same), adoptMessage);
    this.#editable().splice(same);
    for (const message of tail) this.#messages.push(message);
    this.#shorten(same);
  }

  /** A list of its own that knows the same about what is stored. */
  copy(): TrackedContext {
    const copy = new TrackedContext([...this.#messages], this.#keep);
    for (const index of this.#replaced) copy.#replaced.add(index);
    copy.#sums = new Map(this.#sums);
    copy.#paired = this.#paired;
    copy.#pairedCalls = new Set(this.#pairedCalls);
    return copy;
  }

  /** Returns what changed since the last save. */
  delta(): ContextDelta {
    this.#described = {
      keep: this.#keep,
      replace: [...this.#replaced]
        .sort((a, b) => a - b)
        .map((index) => [index, this.#messages[index] as Message] as const),
      append: this.#messages.slice(this.#keep),
    };
    return this.#described;
  }

  /**
   * The store now holds what `saved` described, or everything when nothing is given. What was pushed since is not
   * stored yet; when something was rewritten since, nothing counts as stored.
   */
  markSaved(saved?: ContextDelta): void {
    if (saved === undefined) this.#keep = this.#messages.length;
    else this.#keep = saved === this.#described ? saved.keep + saved.append.length : 0;
    this.#replaced.clear();
  }

  /** Takes over what another process has stored since; costs what changed. */
  advance({ keep, replace, append }: ContextDelta): void {
    const list = this.#editable();
    for (const [index, message] of replace) {
      list[index] = message;
      this.#rewritten(index);
    }
    if (keep < list.length) {
      this.#rewritten(keep);
      list.length = keep;
    }
    for (const message of append) list.push(message);
    this.markSaved();
  }

  /** The messages pushed since this was last called. */
  takePushed(): readonly Message[] {
    const pushed = this.#pushed;
    this.#pushed = [];
    return pushed;
  }

  /** `measure` summed over all messages; costs what was added since it was last asked. */
  sum(measure: MessageMeasure): number {
    let { total, measured } = this.#sums.get(measure) ?? { total: 0, measured: 0 };
    for (; measured < this.#messages.length; measured++)
      total += measure(this.#messages[measured] as Message);
    this.#sums.set(measure, { total, measured });
    return total;
  }

  /**
   * The messages, valid for a model request; costs what was added since it was last asked and found nothing wrong.
   *
   * @param open - ids of calls that may be unanswered
   */
  paired(open?: ReadonlySet<string>): RepairedMessages {
    const added = this.#messages.slice(this.#paired);
    const calls = added.flatMap(toolCallsOf);
    // The added messages can be sound by themselves and still call by an id that is taken.
    if (
      calls.some(({ id }) => this.#pairedCalls.has(id)) ||
      repairToolPairs(added, open).repairs.length > 0
    )
      return repairToolPairs(this.messages, open);
    if (calls.some(({ id }) => open?.has(id))) return { messages: this.messages, repairs: [] };
    for (const { id } of calls) this.#pairedCalls.add(id);
    this.#paired = this.#messages.length;
    return { messages: this.messages, repairs: [] };
  }

  /** The list to edit. */
  #editable(): Message[] {
    this.#shown = null;
    return this.#messages;
  }

  #rewritten(from: number): void {
    if (this.#described && from < this.#described.keep + this.#described.append.length)
      this.#described = null;
    // A cut may fall between a call and its result: only the whole list is known to be paired.
    if (from < this.#paired) {
      this.#paired = 0;
      this.#pairedCalls.clear();
    }
    for (const [measure, { measured }] of this.#sums)
      if (from < measured) this.#sums.delete(measure);
  }

  #shorten(length: number): void {
    this.#rewritten(length);
    if (length >= this.#keep) return;
    this.#keep = length;
    for (const index of this.#replaced) if (index >= length) this.#replaced.delete(index);
  }
}

function commonPrefix(a: readonly Message[], b: readonly Message[]): number {
  let length = 0;
  while (length < a.length && length < b.length && a[length] === b[length]) length++;
  return length;
}
