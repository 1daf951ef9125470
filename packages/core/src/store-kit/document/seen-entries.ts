import type { GateDocument, GateEntry } from "./gate-document.js";

/** Gates of which a process remembers what it saw, beyond those of its own calls. */
const MAX_GATES = 1_000;

/**
 * Entries of gates as this process has seen them.
 *
 * A compare-and-set client has no clock, so nothing stored tells how old an entry is. An entry has expired once this process has
 * seen it unchanged for `leaseMs` by its own monotonic clock: its owner counts from when it sent the renewal, which was earlier.
 */
export class SeenEntries {
  readonly #leaseMs: number;
  readonly #gates = new Map<string, ReadonlyMap<string, { beat: number; since: number }>>();

  constructor(leaseMs: number) {
    this.#leaseMs = leaseMs;
  }

  /** Takes in a document that was just read or written. */
  observe(name: string, gate: GateDocument | null): void {
    const before = this.#gates.get(name);
    this.#gates.delete(name);
    const entries = [...(gate?.claims ?? []), ...(gate?.listeners ?? [])];
    if (entries.length === 0) return;
    const now = performance.now();
    const seen = entries.map(({ token, beat }) => {
      const known = before?.get(token);
      return [token, known?.beat === beat ? known : { beat, since: now }] as const;
    });
    this.#gates.set(name, new Map(seen));
    // Calls that do not wait find a dead holder again and again: their gates are remembered between them, the latest ones.
    for (const oldest of this.#gates.keys()) {
      if (this.#gates.size <= MAX_GATES) break;
      this.#gates.delete(oldest);
    }
  }

  /** Returns the time after which an entry, if it is not renewed, has expired; not above 0 when it has. */
  leftMs(name: string, { token, beat }: Pick<GateEntry, "token" | "beat">): number {
    const seen = this.#gates.get(name)?.get(token);
    if (seen?.beat !== beat) return this.#leaseMs;
    return seen.since + this.#leaseMs - performance.now();
  }
}
