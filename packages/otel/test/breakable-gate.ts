import { InProcessSessionGate, type SessionGate } from "@holdfast/core";
import type { Lease } from "@holdfast/core/store-kit";

/** A gate whose leases can be taken away. */
export class BreakableGate implements SessionGate {
  readonly contract = 1;
  readonly kind = "breakable";
  readonly reach = "process";
  readonly #gate = new InProcessSessionGate();
  readonly #lost = new AbortController();

  async acquire(...args: Parameters<SessionGate["acquire"]>): Promise<Lease> {
    const lease = await this.#gate.acquire(...args);
    const { token, validUntil } = lease;
    return { token, lost: this.#lost.signal, validUntil, release: () => lease.release() };
  }

  calls(...args: Parameters<SessionGate["calls"]>): Promise<readonly string[]> {
    return this.#gate.calls(...args);
  }

  break(): void {
    this.#lost.abort(new Error("gone"));
  }
}
