/** Number of heartbeats sent at the same time; the pool is needed for other things, too. */
const PARALLEL = 4;

/** Sends heartbeats for each of its members while it has any. */
export class SignalHeartbeat<T> {
  readonly #everyMs: number;
  readonly #beat: (member: T) => Promise<void>;
  readonly #members = new Set<T>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  /** @param beat - must not reject */
  constructor(everyMs: number, beat: (member: T) => Promise<void>) {
    this.#everyMs = everyMs;
    this.#beat = beat;
  }

  add(member: T): void {
    this.#members.add(member);
    this.#schedule();
  }

  remove(member: T): void {
    this.#members.delete(member);
    if (this.#members.size === 0) this.#stop();
  }

  /** Sends no more heartbeats. */
  close(): void {
    this.#isClosed = true;
    this.#stop();
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #schedule(): void {
    if (this.#isClosed || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => void this.#beatAll(), this.#everyMs);
    // The calls of a process keep it running, not their heartbeats.
    this.#timer.unref();
  }

  async #beatAll(): Promise<void> {
    const waiting = [...this.#members];
    const work = async (): Promise<void> => {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop())
        if (this.#members.has(next)) await this.#beat(next);
    };
    await Promise.all(Array.from({ length: PARALLEL }, work));
    this.#timer = undefined;
    if (this.#members.size > 0) this.#schedule();
  }
}
