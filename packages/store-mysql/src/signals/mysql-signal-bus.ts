import { randomUUID } from "node:crypto";
import { type SignalBus, type Slot, UnknownOutcomeError } from "@holdfast/core";
import {
  checkId,
  checkSlot,
  type ListenOptions,
  type Signal,
  type Subscription,
  slotText,
  uuidv7,
} from "@holdfast/core/store-kit";
import type { Database } from "../connection/database.js";
import { openDatabase } from "../connection/open-database.js";
import { LocalClaim } from "../gate/local-claim.js";
import type { MysqlSessionGate } from "../gate/mysql-session-gate.js";
import {
  leaseOptions,
  type MysqlLeaseOptions,
  type MysqlPartOptions,
  readOptions,
} from "../options.js";
import { Listeners } from "./listeners.js";
import { type Address, Mailboxes } from "./mailboxes.js";
import { decodeEntries, encodeEntry } from "./signal-entry.js";
import { SignalHeartbeat } from "./signal-heartbeat.js";

/** Options of {@link MysqlSignalBus}. */
export interface MysqlSignalBusOptions
  extends MysqlPartOptions,
    Omit<MysqlLeaseOptions, "nodeTimeoutMs"> {
  /** Calls that enter this gate are found there and need no registration of their own. */
  readonly gate?: MysqlSessionGate | undefined;
}

/**
 * Carries signals between nodes.
 *
 * A sender puts the signal beside the call's lease, its ticket in the queue or, for calls in no queue of ours, in a row of its
 * own; it goes with that. Each process looks every `signalPollMs` for signals to all its calls together, while there are
 * any. Calls of the same bus are told at once.
 *
 * @example
 * const signals = new MysqlSignalBus({ pool, gate });
 */
export class MysqlSignalBus implements SignalBus {
  readonly contract = 1;
  readonly kind = "mysql";
  readonly reach = "distributed";
  readonly #gate: MysqlSessionGate | undefined;
  readonly #mailboxes: Mailboxes;
  readonly #listeners = new Listeners();
  /** Places of calls in no queue of ours, by token. */
  readonly #own = new Map<string, LocalClaim>();
  readonly #heartbeat: SignalHeartbeat<LocalClaim>;
  readonly #pollMs: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  /**
   * @param database - where several parts share one
   * @throws ConfigurationError
   */
  constructor(options: MysqlSignalBusOptions, database?: Database) {
    const { gate, ...rest } = options;
    const accepted = leaseOptions.filter((name) => name !== "nodeTimeoutMs");
    const resolved = readOptions("MysqlSignalBus", rest, accepted);
    this.#gate = gate;
    this.#pollMs = resolved.signalPollMs;
    this.#mailboxes = new Mailboxes(database ?? openDatabase(resolved), resolved.leaseMs);
    this.#heartbeat = new SignalHeartbeat(resolved.leaseMs / 3, (claim) => this.#renew(claim));
    if (gate !== undefined)
      gate.claims.onSignals = (claim, signals) => this.#receive(claim, signals);
  }

  async send(slot: Slot, callId: string, signal: Signal): Promise<boolean> {
    const owner = checkSlot(slot);
    const key = callKey(owner, checkId(callId, "callId"));
    const bytes = encodeEntry({ id: uuidv7(), signal });
    const [entry] = decodeEntries(bytes);
    let isReached = entry !== undefined && this.#listeners.tell(key, entry);
    for (const address of await this.#mailboxes.find(owner, callId))
      if (!this.#isOwn(address) && (await this.#put(owner, address, bytes))) isReached = true;
    return isReached;
  }

  async listen(
    slot: Slot,
    callId: string,
    handler: (signal: Signal) => void,
    options: ListenOptions = {},
  ): Promise<Subscription> {
    const owner = checkSlot(slot);
    const key = callKey(owner, checkId(callId, "callId"));
    const isFoundAtGate = this.#gate !== undefined && options.enters === this.#gate;
    const place = isFoundAtGate
      ? undefined
      : await this.#open(new LocalClaim({ slot: owner, token: randomUUID(), callId }));
    const remove = this.#listeners.add(key, handler);
    this.#schedule();
    let closing: Promise<void> | undefined;
    return {
      close: () => {
        remove();
        closing ??= place === undefined ? Promise.resolve() : this.#close(place);
        return closing;
      },
    };
  }

  /** Ends all timers. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#heartbeat.close();
    clearTimeout(this.#timer);
  }

  #isOwn({ token }: Address): boolean {
    return this.#own.has(token) || this.#gate?.claims.find(token) !== undefined;
  }

  async #put(slot: Slot, address: Address, bytes: Buffer): Promise<boolean> {
    try {
      return await this.#mailboxes.put(slot, address, bytes);
    } catch (error) {
      if (!UnknownOutcomeError.is(error)) throw error;
      // A call that gets it twice knows it by its id.
      return this.#mailboxes.put(slot, address, bytes);
    }
  }

  async #open(claim: LocalClaim): Promise<LocalClaim> {
    claim.ticket = await this.#mailboxes.open(claim);
    this.#own.set(claim.token, claim);
    this.#heartbeat.add(claim);
    return claim;
  }

  async #close(claim: LocalClaim): Promise<void> {
    this.#heartbeat.remove(claim);
    this.#own.delete(claim.token);
    await this.#mailboxes.remove(claim);
  }

  async #renew(claim: LocalClaim): Promise<void> {
    try {
      if ((await this.#mailboxes.renew(claim)) || !this.#own.has(claim.token)) return;
      // Removed while this process stood still.
      claim.ticket = await this.#mailboxes.open(claim);
    } catch {
      // The next one may get through.
    }
  }

  #schedule(): void {
    if (this.#isClosed || this.#timer !== undefined || this.#listeners.size === 0) return;
    this.#timer = setTimeout(() => {
      void this.#poll().finally(() => {
        this.#timer = undefined;
        this.#schedule();
      });
    }, this.#pollMs);
    this.#timer.unref();
  }

  async #poll(): Promise<void> {
    try {
      const claims = [...this.#own.values(), ...(this.#gate?.claims ?? [])].filter((claim) =>
        this.#listeners.has(callKey(claim.slot, claim.callId)),
      );
      for (const { claim, bytes } of await this.#mailboxes.look(claims))
        if (bytes !== claim.signalBytes) await this.#fetch(claim);
    } catch {
      // The next look may get through.
    }
  }

  async #fetch(claim: LocalClaim): Promise<void> {
    const { ticket } = claim;
    const bytes = await this.#mailboxes.fetch(claim);
    // What lay beside a ticket says nothing about the lease it has become meanwhile.
    if (claim.ticket === ticket) claim.signalBytes = bytes.length;
    this.#receive(claim, bytes);
  }

  #receive(claim: LocalClaim, bytes: Buffer): void {
    const key = callKey(claim.slot, claim.callId);
    for (const entry of decodeEntries(bytes)) this.#listeners.tell(key, entry);
  }
}

function callKey(slot: Slot, callId: string): string {
  return slotText(slot) + callId;
}
