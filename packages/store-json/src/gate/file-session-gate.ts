import { resolve } from "node:path";
import type { SessionGate, Slot } from "@holdfast/core";
import { type AcquireRequest, checkSlot, type Lease, LeaseGate } from "@holdfast/core/store-kit";
import { checkOptions, fileOptionRules, type OptionRule } from "../options.js";
import { TicketBackend } from "./ticket-backend.js";

/** Options of a {@link FileSessionGate}. */
export interface FileSessionGateOptions {
  /** Directory below which the tickets are kept, on a local file system; created when it is first needed. */
  readonly root: string;
  /**
   * Time for which a holder that does not renew its lease keeps it; one whose process is gone loses it at once.
   * @default 30_000
   */
  readonly leaseMs?: number | undefined;
}

const rules: { readonly [name in keyof FileSessionGateOptions]-?: OptionRule } = {
  root: fileOptionRules.root,
  leaseMs: {
    accepts: (value) => value === undefined || (Number.isFinite(value) && Number(value) >= 30),
    wanted: "a number of milliseconds, at least 30",
  },
};

/**
 * Serialises calls on a slot among all processes of a host.
 *
 * Within a process calls wait first come, first served; the first of them queues with the other processes by a ticket, a
 * numbered file. A process that dies loses its place at once, one that stands still when its lease is over.
 *
 * One small file per slot stays behind on disk, the last ticket: numbers must not repeat.
 *
 * @example
 * const lease = await new FileSessionGate({ root: "./gates" }).acquire(slot, { callId });
 */
export class FileSessionGate implements SessionGate {
  readonly contract = 1;
  readonly kind = "json";
  readonly reach = "host";
  readonly #tickets: TicketBackend;
  readonly #gate: LeaseGate;
  readonly #beforeCall: ((slot: Slot) => Promise<void>) | undefined;

  /** @param beforeCall - internal: done before a call queues, by a store that removes expired sessions */
  constructor(options: FileSessionGateOptions, beforeCall?: (slot: Slot) => Promise<void>) {
    this.#beforeCall = beforeCall;
    checkOptions("FileSessionGate", options, rules);
    this.#tickets = new TicketBackend(resolve(options.root), options.leaseMs ?? 30_000);
    this.#gate = new LeaseGate(this.#tickets);
  }

  async acquire(slot: Slot, request: AcquireRequest): Promise<Lease> {
    await this.#beforeCall?.(checkSlot(slot));
    return this.#gate.acquire(slot, request);
  }

  calls(slot: Slot): Promise<readonly string[]> {
    return this.#gate.calls(slot);
  }

  /** Closes the files that are kept open for the next call; the gate can still be used. */
  close(): Promise<void> {
    return this.#tickets.closeIdle();
  }
}
