import { closeSync, openSync, readSync } from "node:fs";

/** Measures the longest time for which work kept the event loop from running anything else. */
export class LongestSlice {
  readonly #clock = mainThreadClock();
  readonly #timer: NodeJS.Timeout;
  #longest = 0;
  #last: number;

  constructor() {
    this.#last = this.#clock.ms();
    this.#timer = setInterval(() => this.#look(), 1);
  }

  /** Ends the measurement; resolves to milliseconds of processor time. */
  end(): number {
    clearInterval(this.#timer);
    this.#clock.close();
    return this.#longest;
  }

  #look(): void {
    const now = this.#clock.ms();
    this.#longest = Math.max(this.#longest, now - this.#last);
    this.#last = now;
  }
}

/**
 * Clock of the processor time of the main thread, which other work on the machine does not move. Elsewhere than on Linux, that of
 * the whole process, which is never less.
 */
function mainThreadClock(): { ms(): number; close(): void } {
  const file = openOrNull(`/proc/self/task/${process.pid}/schedstat`);
  const buffer = Buffer.alloc(128);
  return {
    ms() {
      if (file === null) {
        const { user, system } = process.cpuUsage();
        return (user + system) / 1_000;
      }
      const text = buffer.toString("latin1", 0, readSync(file, buffer, 0, buffer.length, 0));
      return Number.parseInt(text, 10) / 1e6;
    },
    close: () => file !== null && closeSync(file),
  };
}

function openOrNull(path: string): number | null {
  try {
    return openSync(path, "r");
  } catch {
    return null;
  }
}
