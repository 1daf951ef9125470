import { Heartbeat } from "./lease/heartbeat.js";

/** Longest and shortest pause between two runs; within them a tenth of `ttlMs`. */
const [SHORTEST_MS, LONGEST_MS] = [1_000, 60_000];

/**
 * Removes expired sessions in the background, for stores whose backend does not do so by itself.
 *
 * Contract, for the store:
 * - A session expires when it was neither loaded nor saved for `ttlMs`. From then on it is absent from `load` and `list`, also
 *   before it is swept, and a save of its last revision is a `StateConflictError`.
 * - Everything stored for the session goes with it: state, call records, inbox, log and blobs.
 * - A session with a running or waiting call does not expire; its time begins when the last call has ended.
 * - Any node may sweep, also several at once; each run does a bounded amount of work.
 *
 * No run begins before {@link start}, so that a store that is not used does no I/O. Pauses are jittered, so that nodes started
 * together do not sweep together. Timers do not keep the process alive.
 */
export class ExpirySweep {
  readonly #heartbeat: Heartbeat;
  readonly #pauseMs: number;
  #isStarted = false;

  /**
   * @param sweep - removes some of the expired sessions; resolves to true when there may be more of them. An error ends the run
   *   and is not reported: the next run tries again
   */
  constructor(ttlMs: number, sweep: () => Promise<boolean>) {
    this.#pauseMs = Math.min(Math.max(ttlMs / 10, SHORTEST_MS), LONGEST_MS);
    this.#heartbeat = new Heartbeat(async () => {
      const hasMore = await sweep().catch(() => false);
      return jittered(hasMore ? SHORTEST_MS : this.#pauseMs);
    });
  }

  /** Begins to sweep after a pause; called with every command of the store, of which the first one counts. */
  start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#heartbeat.schedule(jittered(this.#pauseMs));
  }

  /** Begins no further run; resolves when the one under way has ended. */
  async stop(): Promise<void> {
    this.#isStarted = true;
    await this.#heartbeat.stop();
  }
}

function jittered(ms: number): number {
  return ms * (0.5 + Math.random());
}
