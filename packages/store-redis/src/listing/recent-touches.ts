/** An index entry is written anew at most this often per process. */
const TOUCH_EVERY_MS = 60_000;

/** Slots remembered per process; those forgotten are touched again, which does no harm. */
const REMEMBERED = 10_000;

/** Remembers which index entries this process wrote a moment ago. */
export class RecentTouches {
  readonly #times = new Map<string, number>();

  isRecent(key: string, at: number): boolean {
    const touched = this.#times.get(key);
    return touched !== undefined && Math.abs(at - touched) < TOUCH_EVERY_MS;
  }

  remember(key: string, at: number): void {
    this.#times.delete(key);
    this.#times.set(key, at);
    if (this.#times.size <= REMEMBERED) return;
    const [oldest] = this.#times.keys();
    if (oldest !== undefined) this.#times.delete(oldest);
  }

  forget(key: string): void {
    this.#times.delete(key);
  }
}
