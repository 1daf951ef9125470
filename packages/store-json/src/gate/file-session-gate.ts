import { resolve } from "node:path";
import { InProcessSessionGate, type SessionGate, type Slot } from "@holdfast/core";
import {
  type AcquireRequest,
  checkSlot,
  DEFAULT_MAX_QUEUE,
  describeSlot,
  type Lease,
  slotText,
} from "@holdfast/core/store-kit";
import { Disk } from "../io/disk.js";
import { unavailable } from "../io/io-error.js";
import { slotDirectory } from "../layout.js";
import { checkOptions, fileOptionRules, type OptionRule } from "../options.js";
import { TicketDirectory } from "./ticket-directory.js";
import { TicketLine } from "./ticket-line.js";

/** How a {@link FileSessionGate} is set up. */
export interface FileSessionGateOptions {
  /** Directory below which the tickets are kept; made when it is first needed. On a local file system. */
  readonly root: string;
  /**
   * How long a holder that gives no sign of life keeps its lease; one whose process is gone loses it at once.
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
 * Within a process calls wait first come, first served; the first of them lines up with the other processes by a ticket,
 * a numbered file. A process that dies loses its place at once, one that stands still when its lease is over.
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
  readonly #root: string;
  readonly #local = new InProcessSessionGate();
  readonly #line: TicketLine;
  /** Nothing here has to survive a power loss: no holder does either. */
  readonly #disk = new Disk("os");
  /** Calls of other processes that this process's first call waits for, by slot. */
  readonly #elsewhere = new Map<string, number>();

  constructor(options: FileSessionGateOptions) {
    checkOptions("FileSessionGate", options, rules);
    this.#root = resolve(options.root);
    this.#line = new TicketLine(options.leaseMs ?? 30_000);
  }

  async acquire(slot: Slot, request: AcquireRequest): Promise<Lease> {
    const owner = checkSlot(slot);
    const key = slotText(owner);
    const { callId, signal, wait, maxQueue = DEFAULT_MAX_QUEUE } = request;
    let told = false;
    const tell = (ahead: number): void => {
      if (!told) request.onWait?.(ahead);
      told = true;
    };
    const elsewhere = this.#elsewhere.get(key) ?? 0;
    const turn = await this.#local.acquire(owner, {
      ...request,
      maxQueue: maxQueue - elsewhere,
      onWait: (ahead) => tell(ahead + elsewhere),
    });
    try {
      const directory = this.#directoryOf(owner);
      const lease = await this.#line.acquire({
        ...{ slot: owner, directory, callId, signal, wait, maxQueue },
        onWait: (ahead) => {
          this.#elsewhere.set(key, ahead);
          tell(ahead);
        },
      });
      const release = async (): Promise<void> => {
        await lease.release();
        await turn.release();
      };
      return { token: lease.token, lost: lease.lost, release };
    } catch (error) {
      await turn.release();
      throw unavailable(`line up for ${describeSlot(owner)}`, error);
    } finally {
      this.#elsewhere.delete(key);
    }
  }

  async calls(slot: Slot): Promise<readonly string[]> {
    const owner = checkSlot(slot);
    try {
      const tickets = await this.#line.tickets(this.#directoryOf(owner));
      const [first, ...waiting] = await this.#local.calls(owner);
      const calls = tickets.map(({ callId }) => callId);
      const isLinedUp = tickets.some((ticket) => this.#line.isOwn(ticket));
      return [...calls, ...(first === undefined || isLinedUp ? [] : [first]), ...waiting];
    } catch (error) {
      throw unavailable(`look at the calls of ${describeSlot(owner)}`, error);
    }
  }

  #directoryOf(slot: Slot): TicketDirectory {
    return new TicketDirectory(this.#disk, slotDirectory(this.#root, slot), this.#root);
  }
}
