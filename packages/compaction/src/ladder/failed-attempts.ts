import type { Message } from "@holdfast/core";

/** How far back a failure is remembered, in messages. */
const LOOK_BACK = 64;

/**
 * Remembers where a compaction failed, so that the next step does not fail the same way at the same price.
 *
 * Kept by the last message of that moment, which lives as long as the session is in memory: nothing is written to the
 * state, and another process simply tries once itself.
 */
export class FailedAttempts {
  readonly #failures = new WeakMap<Message, number>();

  /** Whether too little was added since the last failure to try again: 4, 16, 36, then 64 messages. */
  tooSoon(context: readonly Message[]): boolean {
    const { failures, ago } = this.#last(context);
    return failures > 0 && ago < Math.min(LOOK_BACK, 4 * failures * failures);
  }

  failed(context: readonly Message[]): void {
    const last = context.at(-1);
    if (last) this.#failures.set(last, this.#last(context).failures + 1);
  }

  /** Forgets what failed before. */
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
