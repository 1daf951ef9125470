// Flaws that third parties' stores had and the suites did not see.
import type { Revision, SessionGate, SignalBus, Slot, SlotPage, SlotQuery } from "@holdfast/core";
import { type Signal, type StateWrite, slotText } from "@holdfast/core/store-kit";
import { conversationLogCases } from "../../src/conversation-log/describe-conversation-log.js";
import { keyValueStoreCases } from "../../src/key-value-store/describe-key-value-store.js";
import { sessionGateCases } from "../../src/session-gate/describe-session-gate.js";
import { signalBusCases } from "../../src/signal-bus/describe-signal-bus.js";
import { ReferenceGate } from "../reference/reference-gate.js";
import { ReferenceKeyValueStore } from "../reference/reference-key-value-store.js";
import { ReferenceLog } from "../reference/reference-log.js";
import { ReferenceSignalBus } from "../reference/reference-signal-bus.js";
import { ReferenceStore } from "../reference/reference-store.js";
import { catches } from "./catches.js";
import { casesOf } from "./store-cases-of.js";

/** Time after which a flaw counts as seen that shows by something never happening. */
const timeoutMs = 1_000;

function gateOf(create: () => SessionGate) {
  return sessionGateCases({
    ...{ create, timeoutMs },
    reopen: (gate) => gate,
    stallHolder(gate) {
      (gate as ReferenceGate).lapse();
      return () => {};
    },
  });
}

class NeverLost extends ReferenceGate {
  protected override lose(): void {}
}
catches(
  "a lease that is never lost",
  gateOf(() => new NeverLost()),
  "learns that it lost it",
);

class KeepsWaiters extends ReferenceGate {
  readonly #waiters: unknown[] = [];
  override acquire(...args: Parameters<ReferenceGate["acquire"]>) {
    this.#waiters.push(args[1]);
    return super.acquire(...args);
  }
}
catches(
  "waiters kept",
  gateOf(() => new KeepsWaiters()),
  "leave nothing behind in memory",
);

class AsksWhenQueueing extends ReferenceGate {
  override acquire(...[slot, request]: Parameters<ReferenceGate["acquire"]>) {
    const known = request.known?.();
    return super.acquire(slot, { ...request, known: () => known });
  }
}
class AskingStore extends ReferenceStore {
  constructor(backend?: ReferenceStore["backend"]) {
    super(backend);
    Object.setPrototypeOf(this.backend.gate, AsksWhenQueueing.prototype);
  }
}
catches("known asked when queueing", casesOf(AskingStore), "asked for when the turn comes");

class NulEndsPrefix extends ReferenceKeyValueStore {
  protected override matches(key: string, prefix: string): boolean {
    return !prefix.includes("\u0000") && super.matches(key, prefix);
  }
}
const values = (create: () => ReferenceKeyValueStore) => keyValueStoreCases({ create });
catches(
  "a prefix with a NUL",
  values(() => new NulEndsPrefix()),
  "a prefix with a NUL",
);

class ByUnits extends ReferenceKeyValueStore {
  protected override order(one: string, other: string): number {
    return one < other ? -1 : Number(one > other);
  }
}
catches(
  "keys by UTF-16",
  values(() => new ByUnits()),
  "in the order of their code points",
);

class SeesAll extends ReferenceLog {
  override search(...[query]: Parameters<ReferenceLog["search"]>) {
    this.maxRecords = Number.POSITIVE_INFINITY;
    return super.search(query);
  }
}
const logs = (create: () => ReferenceLog) =>
  conversationLogCases({
    create,
    createLimited: () => Object.assign(create(), { maxRecords: 1 }),
  });
catches(
  "a search without a limit",
  logs(() => new SeesAll()),
  "a search out of time",
);

class EndsAtDeleted extends ReferenceLog {
  override from(...[found, sessionId]: Parameters<ReferenceLog["from"]>) {
    const isGone =
      sessionId !== undefined && !found.some(({ slot }) => slot.sessionId === sessionId);
    return isGone ? [] : super.from(found, sessionId);
  }
}
catches(
  "an end at a deleted session",
  logs(() => new EndsAtDeleted()),
  "that was deleted misses nothing",
);

class FrozenTimes extends ReferenceStore {
  override async list(query?: SlotQuery): Promise<SlotPage> {
    const page = await super.list(query);
    return { ...page, slots: page.slots.map((each) => ({ ...each, updatedAt: "2026-01-01" })) };
  }
}
catches("updatedAt frozen", casesOf(FrozenTimes, timeoutMs), "moves updatedAt on");

class KeepsOps extends ReferenceStore {
  static readonly #ops = new Map<string, Revision>();
  override async save(slot: Slot, write: StateWrite): Promise<Revision> {
    const key = slotText(slot) + write.op;
    const revision = KeepsOps.#ops.get(key) ?? (await super.save(slot, write));
    KeepsOps.#ops.set(key, revision);
    return revision;
  }
}
catches("ops kept by a delete", casesOf(KeepsOps), "a delete forgets the ops");

class Twice extends ReferenceSignalBus {
  override async send(slot: Slot, callId: string, signal: Signal): Promise<boolean> {
    await super.send(slot, callId, signal);
    return super.send(slot, callId, signal);
  }
}
const buses = (create: () => SignalBus) => signalBusCases({ create });
catches(
  "signals delivered twice",
  buses(() => new Twice()),
  "each signal once",
);
