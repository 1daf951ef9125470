import type { Message } from "../../message/message.js";
import type { CallOutcome, LogDraft, LogMark } from "../../ports/conversation-log.js";
import { uuidv7 } from "../../slot/uuid.js";

/**
 * The log records of one call that are not written yet.
 *
 * A record gets its id when it is made, so that writing it again after an unknown outcome doubles nothing. It is not the
 * message's: callers choose those and may use one again, above all when they repeat a call that was discarded.
 */
export class LogBatch {
  readonly #callId: string;
  readonly now: () => Date;
  /** In front of the ids of records: a call id may be repeated, and the records of each run are its own. */
  readonly #run = uuidv7();
  readonly #originals = new Map<string, Message>();
  #drafts: LogDraft[] = [];
  #holdsMore = false;
  #records = 0;

  constructor(callId: string, now: () => Date) {
    this.#callId = callId;
    this.now = now;
  }

  /** When the message with this id is added, log `original` in its place. */
  remember(original: Message): void {
    this.#originals.set(original.id, original);
    this.#holdsMore = true;
  }

  add(messages: readonly Message[]): void {
    for (const message of messages) {
      const original = this.#originals.get(message.id) ?? message;
      this.#originals.delete(message.id);
      this.#drafts.push(this.#draft(this.#nextId(), { kind: "message", message: original }));
    }
  }

  mark(mark: LogMark): void {
    this.#drafts.push(this.#draft(this.#nextId(), { kind: "mark", mark }));
  }

  /** Says how the call ended, in place of what an unwritten mark said before. */
  callEnd(outcome: CallOutcome): void {
    const end = `${this.#run}.end.`;
    this.#drafts = this.#drafts.filter(({ id }) => !id.startsWith(end));
    const mark = { name: "call_end", outcome } as const;
    this.#drafts.push(this.#draft(`${end}${outcome}`, { kind: "mark", mark }));
  }

  /** Says how an earlier call ended, which could not say so itself. */
  endOf(callId: string, outcome: CallOutcome): void {
    const mark = { name: "call_end", outcome } as const;
    this.#drafts.push({ ...this.#draft(`${this.#run}.before`, { kind: "mark", mark }), callId });
  }

  /** True when there is more of a message to write than the context got. */
  get holdsMore(): boolean {
    return this.#holdsMore;
  }

  get drafts(): readonly LogDraft[] {
    return this.#drafts;
  }

  /** The first `count` drafts are in the log. */
  written(count: number): void {
    this.#drafts = this.#drafts.slice(count);
    if (this.#drafts.length === 0) this.#holdsMore = false;
  }

  #nextId(): string {
    return `${this.#run}.${this.#records++}`;
  }

  #draft(id: string, body: Pick<LogDraft, "kind" | "message" | "mark">): LogDraft {
    return { v: 1, id, callId: this.#callId, at: this.now().toISOString(), ...body };
  }
}
