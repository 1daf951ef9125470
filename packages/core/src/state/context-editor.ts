import type { Message } from "../message/message.js";

/** What a save has to carry to turn the stored messages into the present ones. */
export interface ContextDelta {
  /** How many stored messages stay, counted from the start. */
  readonly keep: number;
  /** Stored messages among the kept ones that are replaced. */
  readonly replace: readonly (readonly [index: number, message: Message])[];
  /** What follows the kept ones. */
  readonly append: readonly Message[];
}

/**
 * Edits a context and knows which part of it the store already holds.
 *
 * Contract:
 * - Messages are immutable values: change one by replacing it.
 * - `push` leaves everything stored as it is, `replace` marks one message, `splice` and `replaceAll` keep the stored
 *   part up to the first message that is no longer the same object.
 */
export interface ContextEditor {
  readonly length: number;
  push(...messages: readonly Message[]): void;
  replace(index: number, message: Message): void;
  /** Removes `deleteCount` messages from `start` and puts `messages` there; returns the removed ones. */
  splice(start: number, deleteCount: number, ...messages: readonly Message[]): Message[];
  replaceAll(messages: readonly Message[]): void;
}

/** The messages of a state and how they differ from what the store holds. */
export class TrackedContext implements ContextEditor {
  readonly #messages: Message[];
  /** Stored messages still at their place, some perhaps in {@link #replaced}. */
  #keep: number;
  readonly #replaced = new Set<number>();

  /** @param stored - how many of `messages` the store holds exactly as they are */
  constructor(messages: Message[], stored: number) {
    this.#messages = messages;
    this.#keep = stored;
  }

  get messages(): readonly Message[] {
    return this.#messages;
  }

  get length(): number {
    return this.#messages.length;
  }

  push(...messages: readonly Message[]): void {
    for (const message of messages) this.#messages.push(message);
  }

  replace(index: number, message: Message): void {
    if (!Number.isInteger(index) || index < 0 || index >= this.#messages.length)
      throw new RangeError(`no message at index ${index}; there are ${this.#messages.length}`);
    if (this.#messages[index] === message) return;
    this.#messages[index] = message;
    if (index < this.#keep) this.#replaced.add(index);
  }

  splice(start: number, deleteCount: number, ...messages: readonly Message[]): Message[] {
    const at = Math.min(Math.max(Math.trunc(start), 0), this.#messages.length);
    const removed = this.#messages.splice(at, deleteCount, ...messages);
    if (removed.length > 0 || messages.length > 0) this.#shorten(at);
    return removed;
  }

  replaceAll(messages: readonly Message[]): void {
    let same = 0;
    while (
      same < messages.length &&
      same < this.#messages.length &&
      messages[same] === this.#messages[same]
    )
      same++;
    const tail = messages.slice(same);
    this.#messages.length = same;
    for (const message of tail) this.#messages.push(message);
    this.#shorten(same);
  }

  /** What changed since the last save. */
  delta(): ContextDelta {
    return {
      keep: this.#keep,
      replace: [...this.#replaced]
        .sort((a, b) => a - b)
        .map((index) => [index, this.#messages[index] as Message] as const),
      append: this.#messages.slice(this.#keep),
    };
  }

  /** The store now holds exactly these messages. */
  markSaved(): void {
    this.#keep = this.#messages.length;
    this.#replaced.clear();
  }

  #shorten(length: number): void {
    if (length >= this.#keep) return;
    this.#keep = length;
    for (const index of this.#replaced) if (index >= length) this.#replaced.delete(index);
  }
}
