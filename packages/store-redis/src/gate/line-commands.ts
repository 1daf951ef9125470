import type { Revision, Slot } from "@holdfast/core";
import { describeSlot } from "@holdfast/core/store-kit";
import type { RedisConnection, RedisReply } from "../connection/redis-connection.js";
import { lineKeys, slotKeys } from "../keys.js";
import { slotField } from "../state/stored-state.js";
import { acquireScript } from "./acquire-script.js";
import { callsScript, leaveScript, renewScript } from "./line-scripts.js";
import { readSignals, type SentSignal } from "./sent-signal.js";

/** Where a line is kept and how. */
export interface LineOptions {
  readonly keyPrefix: string;
  readonly leaseMs: number;
  readonly commandTimeoutMs: number;
  /** Present: the lease brings the state along, and refreshes its expiry when there is one. */
  readonly loading?: { readonly ttlMs: number | undefined } | undefined;
}

/** A call at the gate, and how others find it. */
export interface Caller {
  readonly slot: Slot;
  readonly token: string;
  readonly callId: string;
  /** The channel of this process. */
  readonly node: string;
  /** Whether it hears signals. */
  readonly listens: boolean;
}

/** How a call wants to be let in. */
export interface Entry {
  /** `again`: it is in line already, and stays whatever the limits are. */
  readonly mode: "queue" | "refuse" | "again";
  readonly maxQueue: number;
  readonly known: Revision | undefined;
  /** Longest time until it is answered. */
  readonly deadlineMs: number;
}

/** What became of a call that wants to be let in. */
export type EntryAnswer =
  | {
      readonly kind: "granted";
      readonly signals: readonly SentSignal[];
      readonly state: RedisReply;
    }
  | {
      readonly kind: "wait";
      readonly signals: readonly SentSignal[];
      readonly ahead: number;
      /** After this long whoever is just before may be gone. */
      readonly dueMs: number;
    }
  | { readonly kind: "busy"; readonly waiting: number };

/** The commands of the gate, each one script. */
export class LineCommands {
  readonly leaseMs: number;
  readonly commandTimeoutMs: number;
  readonly #connection: RedisConnection;
  readonly #options: LineOptions;

  constructor(connection: RedisConnection, options: LineOptions) {
    this.#connection = connection;
    this.#options = options;
    this.leaseMs = options.leaseMs;
    this.commandTimeoutMs = options.commandTimeoutMs;
  }

  async enter(caller: Caller, entry: Entry): Promise<EntryAnswer> {
    const { slot } = caller;
    const { keyPrefix, loading } = this.#options;
    const reply = await this.#connection.run(
      `lining up for ${describeSlot(slot)}`,
      acquireScript,
      slotKeys(keyPrefix, slot),
      [
        ...this.#identity(caller),
        entry.mode,
        Math.min(entry.maxQueue, Number.MAX_SAFE_INTEGER),
        loading === undefined ? "" : slotField(slot),
        entry.known === undefined ? "" : `r${entry.known}`,
        loading?.ttlMs ?? 0,
      ],
      { deadlineMs: entry.deadlineMs },
    );
    const [kind, first, second, third] = reply as readonly RedisReply[];
    if (kind === "busy") return { kind, waiting: Number(first) };
    const signals = readSignals(first);
    if (kind === "granted") return { kind, signals, state: second ?? null };
    return { kind: "wait", signals, ahead: Number(second), dueMs: Number(third) };
  }

  /** A holder's sign of life: the signals to it, or null when the slot is somebody else's. */
  async renew(caller: Caller, deadlineMs: number): Promise<readonly SentSignal[] | null> {
    const [verdict, signals] = (await this.#run("holding", renewScript, caller.slot, {
      args: this.#identity(caller),
      deadlineMs,
    })) as readonly RedisReply[];
    return verdict === "kept" ? readSignals(signals) : null;
  }

  /** Gives back whatever the token stands for; nothing when that is over. */
  async leave(slot: Slot, token: string): Promise<void> {
    await this.#run("leaving", leaveScript, slot, { args: [token] });
  }

  /** The ids of the calls on a slot, in order. */
  async calls(slot: Slot): Promise<readonly string[]> {
    const reply = await this.#run("looking at the calls of", callsScript, slot, { args: [] });
    return (reply as readonly RedisReply[]).map(String);
  }

  #identity({ token, callId, node, listens }: Caller): readonly (string | number)[] {
    return [token, callId, node, listens ? 1 : 0, this.leaseMs];
  }

  #run(
    doing: string,
    script: typeof leaveScript,
    slot: Slot,
    { args, deadlineMs }: { args: readonly (string | number)[]; deadlineMs?: number | undefined },
  ): Promise<RedisReply> {
    const keys = lineKeys(this.#options.keyPrefix, slot);
    const what = `${doing} ${describeSlot(slot)}`;
    return this.#connection.run(what, script, keys, args, { deadlineMs });
  }
}
