import type { Slot } from "@holdfast/core";
import type { KeyValueCondition, Lease, Signal } from "@holdfast/core/store-kit";
import { keyValueStoreCases } from "../../src/key-value-store/describe-key-value-store.js";
import { sessionGateCases } from "../../src/session-gate/describe-session-gate.js";
import { signalBusCases } from "../../src/signal-bus/describe-signal-bus.js";
import { ReferenceGate } from "../reference/reference-gate.js";
import { ReferenceKeyValueStore } from "../reference/reference-key-value-store.js";
import { ReferenceSignalBus } from "../reference/reference-signal-bus.js";
import { catches } from "./catches.js";

function keyValueOf(store: new () => ReferenceKeyValueStore) {
  return keyValueStoreCases({
    create: () => new store(),
    breakBackend(broken) {
      (broken as ReferenceKeyValueStore).broken = true;
    },
  });
}

class LastPutWins extends ReferenceKeyValueStore {
  protected override compare(): void {}
}
catches("last put wins", keyValueOf(LastPutWins), "32 increments at once lose nothing");
catches("last put wins", keyValueOf(LastPutWins), "a put succeeds only on the version");
catches("last put wins", keyValueOf(LastPutWins), "exactly one wins");

class Counts extends ReferenceKeyValueStore {
  protected override newVersion(previous: string | undefined): string {
    return String(Number(previous ?? 0) + 1);
  }
}
catches("versions that start over", keyValueOf(Counts), "never used again, not even after");

class NullIsAnything extends ReferenceKeyValueStore {
  protected override compare(
    stored: { json: string; version: string } | undefined,
    condition: KeyValueCondition,
  ): void {
    super.compare(stored, { expected: condition.expected ?? undefined });
  }
}
catches("null for anything", keyValueOf(NullIsAnything), "a put succeeds only on the version");

class JoinsNamespaces extends ReferenceKeyValueStore {
  protected override keyOf(namespace: readonly string[]): string {
    return namespace.join("/");
  }
}
catches("joined namespaces", keyValueOf(JoinsNamespaces), "namespaces never meet");

class Unlimited extends ReferenceKeyValueStore {
  override async put(
    ...[namespace, key, value, condition]: Parameters<ReferenceKeyValueStore["put"]>
  ): Promise<string> {
    const small = JSON.stringify(value).length > 1_000_000 ? "too large" : value;
    return super.put(namespace, key, small, condition);
  }
}
catches("values cut short", keyValueOf(Unlimited), "one over 1 MB refused");

class AbsenceForErrors extends ReferenceKeyValueStore {
  override async get(...args: Parameters<ReferenceKeyValueStore["get"]>) {
    return super.get(...args).catch(() => null);
  }
}
catches("absence for errors", keyValueOf(AbsenceForErrors), "an outage fails every method");
catches("absence for errors", keyValueOf(AbsenceForErrors), "is refused by every method");

function gateOf(gate: new () => ReferenceGate) {
  return sessionGateCases({ create: () => new gate() });
}

class Open extends ReferenceGate {
  protected override mayStart(): boolean {
    return true;
  }
}
catches("no exclusion", gateOf(Open), "40 calls on a slot run one at a time");
catches("no exclusion", gateOf(Open), "there are never two holders");

class LastComeFirst extends ReferenceGate {
  protected override enqueue(queue: unknown[], waiter: unknown): void {
    queue.splice(1, 0, waiter);
  }
}
catches("last come, first served", gateOf(LastComeFirst), "first come, first served");

class AnyoneReleases extends ReferenceGate {
  override releaseToken(slot: Slot): void {
    const [first] = [...this.queues.values()][0] ?? [];
    if (first) this.leave(slot, first.token);
  }
}
catches("releases that hit others", gateOf(AnyoneReleases), "takes nothing from the next holder");

class OneForAll extends ReferenceGate {
  override async acquire(_slot: Slot, request: Parameters<ReferenceGate["acquire"]>[1]) {
    const slot = { agentId: "a", userId: "u", sessionId: "s" };
    return super.acquire(slot, request);
  }
}
catches("one gate for all slots", gateOf(OneForAll), "different slots never wait");

class OwnReason extends ReferenceGate {
  override async acquire(...args: Parameters<ReferenceGate["acquire"]>): Promise<Lease> {
    return super.acquire(...args).catch((error: unknown) => {
      throw args[1].signal?.aborted ? new Error("aborted") : error;
    });
  }
}
catches("an abort without its reason", gateOf(OwnReason), "gives up waiting leaves cleanly");

class Expired extends ReferenceGate {
  protected override validUntil(): number {
    return Date.now() - 1;
  }
}
catches("a lease that is over when granted", gateOf(Expired), "valid into the future");
catches("a lease that is over when granted", gateOf(Expired), "is valid from its grant");

class NeverEnds extends ReferenceGate {
  protected override validUntil(): number {
    return Number.POSITIVE_INFINITY;
  }
}
catches(
  "a lease that claims to hold for ever",
  sessionGateCases({
    create: () => new NeverEnds(),
    reopen: (gate) => gate,
    killHolder: (gate) => (gate as ReferenceGate).lapse(),
  }),
  "a holder that died ends by itself",
);

function busOf(bus: new (handlers?: ReferenceSignalBus["handlers"]) => ReferenceSignalBus) {
  return signalBusCases({
    create: () => new bus(),
    reopen: (first) => new bus((first as ReferenceSignalBus).handlers),
  });
}

class AllOfSlot extends ReferenceSignalBus {
  protected override keyOf(slot: Slot): string {
    return super.keyOf(slot, "");
  }
}
catches("signals to the whole slot", busOf(AllOfSlot), "the call it names and no other");
catches("signals to the whole slot", busOf(AllOfSlot), "a later listener gets nothing");

class AllSlots extends ReferenceSignalBus {
  protected override keyOf(_slot: Slot, callId: string): string {
    return callId;
  }
}
catches("signals to every slot", busOf(AllSlots), "in different slots is different calls");

class KeepsSignals extends ReferenceSignalBus {
  #pending: Signal | undefined;
  override async send(slot: Slot, callId: string, signal: Signal): Promise<boolean> {
    const reached = await super.send(slot, callId, signal);
    if (!reached) this.#pending = signal;
    return reached;
  }
  override async listen(...[slot, callId, handler]: Parameters<ReferenceSignalBus["listen"]>) {
    if (this.#pending) handler(this.#pending);
    return super.listen(slot, callId, handler);
  }
}
catches("signals kept for later", busOf(KeepsSignals), "a later listener gets nothing");

class NeverCloses extends ReferenceSignalBus {
  override async listen(...args: Parameters<ReferenceSignalBus["listen"]>) {
    await super.listen(...args);
    return { close: async () => {} };
  }
}
catches("subscriptions that stay", busOf(NeverCloses), "a closed subscription gets nothing");

class Alone extends ReferenceSignalBus {
  constructor(_handlers?: ReferenceSignalBus["handlers"]) {
    super(new Map());
  }
}
catches("a bus of one process", busOf(Alone), "reaches the call in the other");
