import { SessionBusyError, type Slot, StoreError, StoreUnavailableError } from "@holdfast/core";
import { type AcquireRequest, DEFAULT_MAX_QUEUE, describeSlot } from "@holdfast/core/store-kit";
import { Heartbeat } from "./heartbeat.js";
import type { Caller, EntryAnswer, LineCommands } from "./line-commands.js";
import type { NodeChannel, Receiver } from "./node-channel.js";
import type { SentSignal } from "./sent-signal.js";

/** Pause after an announcement that did not get through. */
const RETRY_MS = 200;

/** The answer that ends the waiting, and when the command it answers was sent. */
export interface Turn {
  readonly answer: Extract<EntryAnswer, { kind: "granted" }>;
  readonly sentAt: number;
}

/** Where a ticket is handed in. */
export interface TicketOrigin {
  readonly caller: Caller;
  readonly commands: LineCommands;
  readonly node: NodeChannel;
  hear(signals: readonly SentSignal[]): void;
  /** Called once when it is over, whichever way. */
  onEnd(): void;
}

/**
 * A call that lines up: it announces itself when it comes, when it is woken, when whoever is before it may be gone, and
 * otherwise a third of `leaseMs` apart, until its turn comes.
 *
 * An outage does not end the waiting before it cost the call its place: not heard of for `leaseMs`, it is passed over, and
 * its caller is told why the store could not be asked. A call that has no place yet is told so at once.
 */
export class Ticket implements Receiver {
  /** Rejects with the request's abort reason, `SessionBusyError` or `StoreUnavailableError`. */
  readonly turn: Promise<Turn>;
  readonly #origin: TicketOrigin;
  readonly #request: AcquireRequest;
  readonly #heartbeat = new Heartbeat(() => this.#announce());
  readonly #onAbort = (): void => void this.giveUp(this.#request.signal?.reason);
  #grant: (turn: Turn) => void = () => {};
  #refuse: (reason: unknown) => void = () => {};
  /** When the last announcement that was answered with a place in line was sent. */
  #heardAt: number | undefined;
  /** Whether there may be something on the server to take back. */
  #isSent = false;
  #isOver = false;

  constructor(origin: TicketOrigin, request: AcquireRequest) {
    this.#origin = origin;
    this.#request = request;
    this.turn = new Promise((resolve, reject) => {
      this.#grant = resolve;
      this.#refuse = reject;
    });
    origin.node.receive(origin.caller.token, this);
    request.signal?.addEventListener("abort", this.#onAbort);
    this.#heartbeat.poke();
  }

  /** Ends the waiting at once. Resolves when what is on the server was taken back, or is left to go stale. */
  async giveUp(reason: unknown): Promise<void> {
    if (this.#isOver) return;
    this.#end();
    this.#refuse(reason);
    // Behind the announcement under way, which may bring the ticket or the lease.
    await this.#heartbeat.stop();
    if (!this.#isSent) return;
    await this.#origin.commands.leave(this.#slot, this.#origin.caller.token).catch(() => undefined);
  }

  onWake(): void {
    this.#heartbeat.poke();
  }

  onSignal(id: string, text: string): void {
    this.#origin.hear([{ id, text }]);
  }

  onGap(): void {
    this.#heartbeat.poke();
  }

  get #slot(): Slot {
    return this.#origin.caller.slot;
  }

  async #announce(): Promise<number> {
    const { node, commands, caller } = this.#origin;
    const { wait = true, maxQueue = DEFAULT_MAX_QUEUE, known } = this.#request;
    const startedAt = performance.now();
    try {
      await node.ready();
      if (this.#isOver) return 0;
      const mode = this.#heardAt !== undefined ? "again" : wait ? "queue" : "refuse";
      // Not before: a lease lasts from when it was asked for, however long it took to connect.
      const sentAt = performance.now();
      const deadlineMs = Math.max(startedAt + commands.commandTimeoutMs - sentAt, 1);
      this.#isSent = true;
      const answer = await commands.enter(caller, { mode, maxQueue, known: known?.(), deadlineMs });
      return this.#isOver ? 0 : this.#heed(answer, sentAt);
    } catch (error) {
      return this.#fail(error);
    }
  }

  #heed(answer: EntryAnswer, sentAt: number): number {
    if (answer.kind === "busy") {
      this.#isSent = false;
      void this.giveUp(this.#busy(answer.waiting));
      return 0;
    }
    this.#origin.hear(answer.signals);
    if (answer.kind === "granted") {
      this.#end();
      this.#grant({ answer, sentAt });
      return 0;
    }
    const isNew = this.#heardAt === undefined;
    this.#heardAt = sentAt;
    if (isNew) this.#request.onWait?.(answer.ahead);
    return Math.min(this.#origin.commands.leaseMs / 3, Math.max(answer.dueMs, 0) + 1);
  }

  #fail(error: unknown): number {
    const silentMs = performance.now() - (this.#heardAt ?? Number.NEGATIVE_INFINITY);
    if (StoreError.is(error) && silentMs < this.#origin.commands.leaseMs)
      return Math.min(RETRY_MS, this.#origin.commands.leaseMs / 3);
    void this.giveUp(StoreError.is(error) ? this.#failed(error) : error);
    return 0;
  }

  #end(): void {
    this.#isOver = true;
    void this.#heartbeat.stop();
    this.#request.signal?.removeEventListener("abort", this.#onAbort);
    this.#origin.node.forget(this.#origin.caller.token);
    this.#origin.onEnd();
  }

  #busy(waiting: number): SessionBusyError {
    const { wait = true, maxQueue = DEFAULT_MAX_QUEUE } = this.#request;
    const why = wait ? `at most ${maxQueue} may wait` : "this call may not wait";
    return new SessionBusyError(
      `${describeSlot(this.#slot)} is running another call and ${waiting} wait for it; ${why}: try again later`,
    );
  }

  /** The call did not begin, whatever became of its ticket: nothing of it is in doubt. */
  #failed(cause: StoreError): StoreUnavailableError {
    const where = describeSlot(this.#slot);
    const what = this.#heardAt === undefined ? "lining up for" : "waiting for";
    // What a refusal says of its reason is worth more than that it failed; "may have been applied" is not true of a call.
    const reason = StoreUnavailableError.is(cause)
      ? withoutStart(cause.message, `lining up for ${where} failed: `)
      : "Redis cannot be reached; try again later";
    return new StoreUnavailableError(`${what} ${where} failed: ${reason}`, { cause });
  }
}

function withoutStart(text: string, start: string): string {
  return text.startsWith(start) ? text.slice(start.length) : text;
}
