import type { Writable } from "node:stream";
import { LimitExceeded } from "./failure.js";

/** Limits of what waits to be read by a server. */
export interface WriteLimits {
  readonly maxUnsentBytes: number;
  readonly writeTimeoutMs: number;
}

/** Writes to a server's stdin, and gives up on a server that does not read it. */
export class BoundedWriter {
  readonly #stream: Writable;
  readonly #limits: WriteLimits;
  readonly #onExceeded: (error: LimitExceeded) => void;
  #timer: NodeJS.Timeout | undefined;

  /** @param onExceeded - called when the server has not read for too long, or too much waits for it */
  constructor(stream: Writable, limits: WriteLimits, onExceeded: (error: LimitExceeded) => void) {
    this.#stream = stream;
    this.#limits = limits;
    this.#onExceeded = onExceeded;
    stream.once("close", () => this.#rest());
  }

  /**
   * Writes a text; resolves when the system has taken all of it, or the stream has failed, which its own event reports. One
   * text of any size is taken; further ones only while less than `maxUnsentBytes` wait.
   *
   * @throws LimitExceeded when it was not written
   */
  async write(text: string): Promise<void> {
    const { maxUnsentBytes } = this.#limits;
    if (this.#stream.writableLength > maxUnsentBytes) {
      const error = new LimitExceeded(
        `does not read what it is sent: more than maxUnsentBytes, ${maxUnsentBytes}, wait for it`,
      );
      this.#onExceeded(error);
      throw error;
    }
    await new Promise<void>((resolve) => {
      this.#stream.write(text, () => {
        this.#rest();
        if (this.#stream.writableLength > 0) this.#watch();
        resolve();
      });
      this.#watch();
    });
  }

  /** Expects the server to read within its time, unless that is expected already. */
  #watch(): void {
    const { writeTimeoutMs } = this.#limits;
    this.#timer ??= setTimeout(
      () =>
        this.#onExceeded(
          new LimitExceeded(
            `has not read what it was sent for writeTimeoutMs, ${writeTimeoutMs} ms`,
          ),
        ),
      writeTimeoutMs,
    ).unref();
  }

  #rest(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
