import type { Message } from "@holdfast/core";

/** Messages after which a failure is forgotten. */
const LOOK_BACK = 64;

/**
 * Remembers where a compaction failed, so that the next step does not pay for the same failure again.
 *
 * A failure is keyed by the last message at that moment, which lives as long as the session is in memory: nothing is
 * written to the state, and another process simply makes one attempt of its own.
 */
export class FailedAttempts {
  readonly #failures = new WeakMap<Message, number>();

  /** Tells whether too few messages were added since the last failure: less than 4, 16, 36, then 64. */
  tooSoon(context: readonly Message[]): boolean {
    const { failures, ago } = this.#last(context);
    return failures > 0 && ago < Math.min(LOOK_BACK, 4 * failures * failures);
  }

  failed(context: readonly Message[]): void {
    const last = context.at(-1);
    if (last) this.#failures.set(last, this.#last(context).failures + 1);
  }

  /** Forgets earlier failures. */
  succeeded(context: readonly Message[]): void {
    for (const message of context.slice(-LOOK_BACK)) this.#failures.delete(message);
  }

  #last(context: readonly Message[]): { failures: number; ago: number } {
    for (let ago = 0; ago < LOOK_BACK && ago < context.length; ago++) {
      const failures = this.#failures.get(context[context.length - 1 - ago] as Message);
      if (failures !== undefined) return { failures, ago };
    }
    return { failures: 0, ago: 0 };
  }
}
