import { sleep, withDeadline } from "@holdfast/core/store-kit";
import type { Openable } from "./line.js";

const longestPauseMs = 500;

/** Keeps one line open: makes it when first asked for, and a new one when it was lost. */
export class LineKeeper<L extends Openable> {
  readonly #open: () => L;
  readonly #connectMs: number;
  readonly #closing = new AbortController();
  #line: L | undefined;
  #opening: Promise<L> | undefined;
  #waiting = 0;
  #failures = 0;
  #notBefore = 0;

  constructor(open: () => L, connectMs: number) {
    this.#open = open;
    this.#connectMs = connectMs;
  }

  /** The line, if it can be used right now and nobody who came before is waiting for it. */
  get line(): L | undefined {
    return this.#waiting === 0 && this.#line?.isOpen ? this.#line : undefined;
  }

  /**
   * Uses the line: before this function returns when it is open, else once it is, in the order of the calls. It is one
   * attempt: rejects when no line could be opened.
   */
  use<T>(how: (line: L) => Promise<T>): Promise<T> {
    const { line } = this;
    return line === undefined ? this.#useNext(how) : how(line);
  }

  async #useNext<T>(how: (line: L) => Promise<T>): Promise<T> {
    this.#opening ??= this.#attempt();
    this.#waiting++;
    let line: L;
    try {
      line = await this.#opening;
    } finally {
      if (--this.#waiting === 0) this.#opening = undefined;
    }
    return how(line);
  }

  get isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  close(): void {
    this.#closing.abort();
    this.#line?.drop();
  }

  async #attempt(): Promise<L> {
    const pauseMs = this.#notBefore - performance.now();
    if (pauseMs > 0) await sleep(pauseMs, this.#closing.signal);
    if (this.isClosed) throw new Error("closed");
    const line = this.#open();
    this.#line = line;
    try {
      await withDeadline(
        () => line.opened,
        this.#connectMs,
        () => new Error("connecting timed out"),
      );
      this.#failures = 0;
      return line;
    } catch (error) {
      line.drop();
      this.#notBefore = performance.now() + pauseAfter(this.#failures++);
      throw error;
    }
  }
}

/** Longer each time, with chance in it, so that processes which lost the server together do not come back together. */
export function pauseAfter(failures: number): number {
  return Math.min(20 * 2 ** failures, longestPauseMs) * (0.5 + Math.random() / 2);
}
