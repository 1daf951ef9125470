import type { LoadedState, Revision } from "../ports/agent-state-store.js";
import type { AcquireRequest, Lease, SessionGate } from "../ports/session-gate.js";
import type { Slot } from "../slot/slot.js";
import type { InProcessSessionGate } from "./in-process-gate.js";

/** An in-process gate whose leases come with the state: what a fused gate of a real store does in one round trip. */
export class LoadingGate implements SessionGate {
  readonly contract = 1;
  readonly kind = "memory";
  readonly reach = "process";
  readonly #gate: InProcessSessionGate;
  readonly #load: (slot: Slot, known?: Revision) => LoadedState | "unchanged" | null;

  constructor(
    gate: InProcessSessionGate,
    load: (slot: Slot, known?: Revision) => LoadedState | "unchanged" | null,
  ) {
    this.#gate = gate;
    this.#load = load;
  }

  async acquire(slot: Slot, request: AcquireRequest): Promise<Lease> {
    const lease = await this.#gate.acquire(slot, request);
    return {
      token: lease.token,
      get lost() {
        return lease.lost;
      },
      loaded: this.#load(slot, request.known?.()),
      release: () => lease.release(),
    };
  }

  calls(slot: Slot): Promise<readonly string[]> {
    return this.#gate.calls(slot);
  }
}
