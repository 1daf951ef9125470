import { type FSWatcher, type WatchListener, watch } from "node:fs";

/** Polling interval: `firstMs`, doubled each time up to `lastMs`. */
export interface PollInterval {
  readonly firstMs: number;
  readonly lastMs: number;
  /** True when waiting keeps the process running. */
  readonly keepsRunning: boolean;
}

/** Waits for changes in a directory; polls too, since not every file system reports changes. */
export class DirectoryChange {
  readonly #watcher: FSWatcher | undefined;
  readonly #poll: PollInterval;
  #pollMs: number;
  #changed = false;
  #wake: () => void = () => {};

  /** @param concerns - tells whether a change of the file with this name matters */
  constructor(directory: string, poll: PollInterval, concerns: (name: string) => boolean) {
    this.#poll = poll;
    this.#pollMs = poll.firstMs;
    this.#watcher = watchDirectory(directory, (_change, name) => {
      if (name !== null && !concerns(name)) return;
      this.#changed = true;
      this.#wake();
    });
  }

  /** Polls again as often as at first, and forgets changes before. */
  restart(): void {
    this.#pollMs = this.#poll.firstMs;
    this.#changed = false;
  }

  /** Resolves after a change since the last call, at the next poll, or when `signal` aborts. */
  async next(signal?: AbortSignal): Promise<void> {
    if (!this.#changed && !signal?.aborted) {
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        timer = setTimeout(resolve, this.#pollMs);
        if (!this.#poll.keepsRunning) timer.unref();
        signal?.addEventListener("abort", this.#wake);
      }).finally(() => clearTimeout(timer));
      signal?.removeEventListener("abort", this.#wake);
      this.#pollMs = Math.min(this.#pollMs * 2, this.#poll.lastMs);
    }
    this.#changed = false;
  }

  /** Ends the watch. */
  close(): void {
    this.#watcher?.close();
  }
}

/** Watches a directory, where the system can; `onChange` gets the kind of change and the name of the file, if known. */
export function watchDirectory(
  directory: string,
  onChange: WatchListener<string>,
): FSWatcher | undefined {
  try {
    const watcher = watch(directory, { persistent: false }, onChange);
    watcher.on("error", () => watcher.close());
    return watcher;
  } catch {
    // Too many watchers, or a file system without them: polling is enough.
    return undefined;
  }
}
