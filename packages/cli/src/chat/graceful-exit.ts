import type { HarnessAgent } from "@holdfast/harness";
import { type ExitCode, exitCodes } from "../exit-code.js";

/** Time a running call gets to come to a safe point when the process is told to end. */
const DRAIN_MS = 10_000;
/** Time an interrupted call gets to be saved when a person does not want to wait any longer. */
const HURRY_MS = 2_000;

/**
 * Turns signals into an orderly end: SIGINT interrupts the running call, SIGTERM and SIGHUP let it come to a safe point;
 * either way it is saved. A second signal does not wait for long; a second SIGHUP says nothing new, because a terminal that
 * goes away is noticed in more than one place.
 */
export class GracefulExit implements Disposable {
  readonly #agent: HarnessAgent;
  readonly #leaving = new AbortController();
  readonly #hurry = new AbortController();
  #code: ExitCode | null = null;
  #drained: Promise<unknown> = Promise.resolve();
  #drainTimer: NodeJS.Timeout | undefined;

  constructor(agent: HarnessAgent) {
    this.#agent = agent;
    process.on("SIGINT", this.interrupt);
    process.on("SIGTERM", this.drain);
    process.on("SIGHUP", this.hangUp);
  }

  /** Why the program is to end; null while it is not. */
  get code(): ExitCode | null {
    return this.#code;
  }

  /** Aborts when the program is to end. */
  get signal(): AbortSignal {
    return this.#leaving.signal;
  }

  /** Aborts when nobody wants to wait any longer. */
  get hurry(): AbortSignal {
    return this.#hurry.signal;
  }

  /** Interrupts what runs, and leaves. */
  readonly interrupt = (): void => {
    if (this.#code !== null) this.#hurry.abort();
    this.leave(exitCodes.interrupted);
    void this.#agent.interrupt().catch(() => undefined);
  };

  /** Lets what runs come to a safe point, and leaves. */
  readonly drain = (): void => {
    const isSecond = this.#drainTimer !== undefined;
    if (isSecond) this.#hurry.abort();
    // What is done at the end besides is not worth more time than the call itself.
    this.#drainTimer ??= setTimeout(() => this.#hurry.abort(), DRAIN_MS);
    this.leave(exitCodes.terminated);
    this.#drained = this.#agent
      .shutdown({ timeoutMs: isSecond ? 0 : DRAIN_MS })
      .catch(() => undefined);
  };

  /** As {@link drain}, however often. */
  readonly hangUp = (): void => {
    if (this.#drainTimer === undefined) this.drain();
  };

  /** Ends the program once the call that runs is done. The first reason counts. */
  leave(code: ExitCode): void {
    this.#code ??= code;
    this.#leaving.abort();
  }

  /** Does not wait any longer than a moment from now on. */
  hurryUp(): void {
    this.#hurry.abort();
  }

  /** The outcome of `work`; when it is hurried, of as much as comes soon. @throws when that moment is over */
  async during<T>(work: Promise<T>): Promise<T> {
    const { signal } = this.#hurry;
    let timer: NodeJS.Timeout | undefined;
    let start = (): void => undefined;
    const over = new Promise<never>((_, reject) => {
      start = () => {
        timer = setTimeout(() => reject(new Error("left before it was done and saved")), HURRY_MS);
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
   * conversation itself is saved already.
   */
  async closeAgent(): Promise<void> {
    if (this.hurry.aborted) return;
    const hurried = new Promise<void>((resolve) => {
      this.hurry.addEventListener("abort", () => resolve(), { once: true });
    });
    await Promise.race([this.#drained.then(() => this.#agent.close()), hurried]);
  }

  [Symbol.dispose](): void {
    process.off("SIGINT", this.interrupt);
    process.off("SIGTERM", this.drain);
    process.off("SIGHUP", this.hangUp);
    clearTimeout(this.#drainTimer);
  }
}
