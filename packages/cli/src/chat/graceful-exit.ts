import type { HarnessAgent } from "@holdfast/harness";
import { type ExitCode, exitCodes } from "../exit-code.js";
import type { RunningTasks } from "./running-tasks.js";

/** Time a running call gets to reach a safe point after SIGTERM. */
const DRAIN_MS = 10_000;
/** Time an interrupted call gets to be saved after a second Ctrl-C. */
const HURRY_MS = 5_000;

/**
 * Ends a chat gracefully on signals: SIGINT interrupts the running call, SIGTERM and SIGHUP let it reach a safe point;
 * either way it is saved. A second signal shortens the wait. Further SIGHUPs are ignored, because a closed terminal is
 * noticed in more than one place.
 */
export class GracefulExit implements Disposable {
  readonly #agent: HarnessAgent;
  readonly #leaving = new AbortController();
  readonly #hurry = new AbortController();
  #code: ExitCode | null = null;
  #drained: Promise<unknown> = Promise.resolve();
  /** Resolves when background tasks have said that they are paused; null when there are none. */
  #paused: Promise<void> | null = null;
  #drainTimer: NodeJS.Timeout | undefined;

  constructor(agent: HarnessAgent) {
    this.#agent = agent;
    process.on("SIGINT", this.interrupt);
    process.on("SIGTERM", this.drain);
    process.on("SIGHUP", this.hangUp);
  }

  /** Exit code once the program is to end; null before. */
  get code(): ExitCode | null {
    return this.#code;
  }

  /** Aborts when the program is to end. */
  get signal(): AbortSignal {
    return this.#leaving.signal;
  }

  /** Aborts when the user does not want to wait any longer. */
  get hurry(): AbortSignal {
    return this.#hurry.signal;
  }

  /** Interrupts the running call, then exits. */
  readonly interrupt = (): void => {
    if (this.#code !== null) this.#hurry.abort();
    this.leave(exitCodes.interrupted);
    void this.#agent.interrupt().catch(() => undefined);
  };

  /** Lets the running call reach a safe point, then exits. */
  readonly drain = (): void => {
    const isSecond = this.#drainTimer !== undefined;
    if (isSecond) this.#hurry.abort();
    // Background work at the end gets no more time than the call itself.
    this.#drainTimer ??= setTimeout(() => this.#hurry.abort(), DRAIN_MS);
    this.leave(exitCodes.terminated);
    this.#drained = this.#shutDown(isSecond ? 0 : DRAIN_MS);
  };

  /** Calls {@link drain} once, however often the signal arrives. */
  readonly hangUp = (): void => {
    if (this.#drainTimer === undefined) this.drain();
  };

  /** Exits once the running call is done. The first code counts. */
  leave(code: ExitCode): void {
    this.#code ??= code;
    this.#leaving.abort();
  }

  /** Shortens every wait from now on. */
  hurryUp(): void {
    this.#hurry.abort();
  }

  /** Lets subagents that work in the background reach a safe point: their tasks are paused and go on in another process. */
  pauseTasks(running: RunningTasks): void {
    // A task says so a moment after its call has ended: its record is written in between.
    this.#paused = running.finished(AbortSignal.timeout(DRAIN_MS + HURRY_MS));
    this.#drained = Promise.all([this.#drained, this.#shutDown(DRAIN_MS), this.#paused]);
  }

  #shutDown(timeoutMs: number): Promise<unknown> {
    return this.#agent.shutdown({ timeoutMs }).catch(() => undefined);
  }

  /** Waits for `work`, after a second signal only for a moment. @throws when that moment is over */
  async during<T>(work: Promise<T>): Promise<T> {
    const { signal } = this.#hurry;
    let timer: NodeJS.Timeout | undefined;
    let start = (): void => undefined;
    const over = new Promise<never>((_, reject) => {
      start = () => {
        timer = setTimeout(
          () => reject(new Error("exited before the call was done and saved")),
          HURRY_MS,
        );
      };
    });
    if (signal.aborted) start();
    else signal.addEventListener("abort", start, { once: true });
    try {
      return await Promise.race([work, over]);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", start);
    }
  }

  /**
   * Closes the agent, which may take a while: facts for the long-term memory are noted. A Ctrl-C skips that; the
   * conversation itself is saved already, and background tasks get a moment to be.
   */
  async closeAgent(): Promise<void> {
    const hurried = new Promise<void>((resolve) => {
      if (this.hurry.aborted) resolve();
      else this.hurry.addEventListener("abort", () => resolve(), { once: true });
    });
    const closed = this.#drained.then(async () => {
      if (!this.hurry.aborted) await this.#agent.close();
    });
    await Promise.race([closed, hurried]);
    if (this.hurry.aborted && this.#paused)
      await this.during(Promise.all([this.#shutDown(0), this.#paused])).catch(() => undefined);
  }

  [Symbol.dispose](): void {
    process.off("SIGINT", this.interrupt);
    process.off("SIGTERM", this.drain);
    process.off("SIGHUP", this.hangUp);
    clearTimeout(this.#drainTimer);
  }
}
