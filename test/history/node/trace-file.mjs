// Appends events to the trace of one node, one JSON text per line. Written at once: what a killed process had recorded stays.
import { openSync, writeSync } from "node:fs";

/** Milliseconds of the machine's monotonic clock: the same in all processes, and not moved by a changed time of day. */
export function now() {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000;
}

export class TraceFile {
  #file;

  /** @param {string} path */
  constructor(path) {
    this.#file = openSync(path, "a");
  }

  /** @param {{ readonly e: string, readonly [field: string]: unknown }} event */
  add(event) {
    writeSync(this.#file, `${JSON.stringify({ t: now(), ...event })}\n`);
  }
}
