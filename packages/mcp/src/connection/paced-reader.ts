import type { Readable } from "node:stream";
import { longestTimerMs } from "@holdfast/core/store-kit";
import { countLines, type ReadLimits, ReadRate } from "./read-rate.js";

/** Pauses a stream of lines while more comes than its limits allow. */
export class PacedReader {
  readonly #stream: Readable;
  readonly #rate: ReadRate;
  readonly #onData = (chunk: Buffer | string): void =>
    this.#count(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
  #timer: NodeJS.Timeout | undefined;

  constructor(stream: Readable, limits: ReadLimits) {
    this.#stream = stream;
    this.#rate = new ReadRate(limits);
    stream.on("data", this.#onData);
  }

  /** Reads on without limits, so that the stream can end; what others listen for is up to them. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#stream.off("data", this.#onData);
    this.#stream.resume();
  }

  #count(chunk: Buffer): void {
    const waitMs = this.#rate.after(countLines(chunk), chunk.length);
    if (waitMs === 0) return;
    this.#stream.pause();
    clearTimeout(this.#timer);
    // The connection keeps the process alive, its pace does not.
    this.#timer = setTimeout(() => this.#stream.resume(), Math.min(waitMs, longestTimerMs)).unref();
  }
}
