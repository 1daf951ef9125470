import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import type { SignalBus, Slot } from "@holdfast/core";
import {
  checkId,
  checkSlot,
  deepFreeze,
  describeSlot,
  type Signal,
  type Subscription,
  slotText,
} from "@holdfast/core/store-kit";
import { IdlePool } from "../io/idle-pool.js";
import { unavailable } from "../io/io-error.js";
import { bySlot, slotDirectory } from "../layout.js";
import { checkOptions, fileOptionRules } from "../options.js";
import { callMailboxes, Mailbox } from "./mailbox.js";
import { MailboxSweep } from "./mailbox-sweep.js";

/** Options of a {@link FileSignalBus}. */
export interface FileSignalBusOptions {
  /** Directory below which signals are left, on a local file system; created when it is first needed. */
  readonly root: string;
}

/** Idle mailboxes from which on a session without one takes another's, which is cheaper than to make one. */
const MANY_IDLE = 16;

type Handler = (signal: Signal) => void;

/**
 * Carries signals between the processes of a host.
 *
 * A listener creates a directory of its own for the call and watches it; a sender leaves a file in each of the call's
 * directories. It loses the call's name with the end of the call, so no signal outlives the call it was meant for, and serves a
 * later call if one comes within seconds; then it is removed. What a killed process leaves behind is removed by the next call of
 * the session, or beside those of other sessions, of any process, within minutes.
 *
 * @example
 * const signals = new FileSignalBus({ root: "./signals" });
 */
export class FileSignalBus implements SignalBus {
  readonly contract = 1;
  readonly kind = "json";
  readonly reach = "host";
  readonly #root: string;
  readonly #placeOf: (slot: Slot) => { readonly directory: string };
  readonly #sweep: MailboxSweep;
  readonly #idle = new IdlePool<Mailbox>((mailbox) => {
    this.#forget(mailbox);
    return mailbox.discard();
  });
  /** Ids of the idle mailboxes, by the directory of the session that they are in. */
  readonly #idleIn = new Map<string, Set<string>>();
  /** Listeners of this object, by call and mailbox: they are told directly. */
  readonly #own = new Map<string, Map<string, Handler>>();

  constructor(options: FileSignalBusOptions) {
    checkOptions("FileSignalBus", options, { root: fileOptionRules.root });
    const root = resolve(options.root);
    this.#root = root;
    this.#placeOf = bySlot((slot) => ({ directory: slotDirectory(root, slot) }));
    this.#sweep = new MailboxSweep(this.#root);
  }

  async send(slot: Slot, callId: string, signal: Signal): Promise<boolean> {
    const owner = checkSlot(slot);
    const own = this.#own.get(callKey(owner, callId)) ?? new Map<string, Handler>();
    const text = JSON.stringify(signal);
    for (const handler of [...own.values()]) deliver(handler, text);
    let isReached = own.size > 0;
    try {
      for (const mailbox of await callMailboxes(this.#root, this.#placeOf(owner).directory, callId))
        if (!own.has(mailbox.id) && (await mailbox.put(text))) isReached = true;
    } catch (error) {
      throw unavailable(`signal a call of ${describeSlot(owner)}`, error);
    }
    return isReached;
  }

  async listen(slot: Slot, callId: string, handler: Handler): Promise<Subscription> {
    const owner = checkSlot(slot);
    const key = callKey(owner, callId);
    const mailbox = await this.#mailboxFor(owner, callId, (text) => deliver(handler, text));
    const handlers = this.#own.get(key) ?? new Map<string, Handler>();
    this.#own.set(key, handlers.set(mailbox.id, handler));
    this.#sweep.poke();
    return {
      close: async () => {
        handlers.delete(mailbox.id);
        if (handlers.size === 0 && this.#own.get(key) === handlers) this.#own.delete(key);
        if (await mailbox.close()) this.#keep(mailbox);
      },
    };
  }

  /** Removes the mailboxes kept for calls to come. Without it they go when no call came for seconds. */
  async close(): Promise<void> {
    await this.#idle.clear();
  }

  #keep(mailbox: Mailbox): void {
    const ids = this.#idleIn.get(mailbox.session) ?? new Set();
    this.#idleIn.set(mailbox.session, ids.add(mailbox.id));
    this.#idle.put(mailbox.id, mailbox);
  }

  /** Takes an idle mailbox: one of the session, else, where there are many, another's. */
  #take(session: string): Mailbox | undefined {
    const [own] = this.#idleIn.get(session) ?? [];
    const idle = own === undefined ? this.#idle.takeOldest(MANY_IDLE) : this.#idle.take(own);
    if (idle !== undefined) this.#forget(idle);
    return idle;
  }

  #forget({ id, session }: Mailbox): void {
    const ids = this.#idleIn.get(session);
    ids?.delete(id);
    if (ids?.size === 0) this.#idleIn.delete(session);
  }

  async #mailboxFor(slot: Slot, callId: string, receive: (text: string) => void): Promise<Mailbox> {
    try {
      const { directory } = this.#placeOf(slot);
      const idle = this.#take(directory);
      if (idle !== undefined && (await idle.reopen(directory, callId, receive))) return idle;
      const mailbox = new Mailbox(this.#root, directory, callId, randomUUID());
      await mailbox.open(receive);
      return mailbox;
    } catch (error) {
      throw unavailable(`listen for signals to a call of ${describeSlot(slot)}`, error);
    }
  }
}

function callKey(slot: Slot, callId: string): string {
  return slotText(slot) + checkId(callId, "callId");
}

function deliver(handler: Handler, text: string): void {
  try {
    handler(deepFreeze(JSON.parse(text) as Signal));
  } catch {
    // A listener that throws does not stand between others and their signals, nor itself and its next one.
  }
}
