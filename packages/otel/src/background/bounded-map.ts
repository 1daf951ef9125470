/** A map that lets go of what was set longest ago once it holds too much. */
export class BoundedMap<V> {
  readonly #values = new Map<string, V>();
  readonly #maxEntries: number;
  readonly #letGo: (value: V) => void;

  /** @param letGo - gets what has to leave, or is replaced */
  constructor(maxEntries: number, letGo: (value: V) => void = () => undefined) {
    this.#maxEntries = maxEntries;
    this.#letGo = letGo;
  }

  get size(): number {
    return this.#values.size;
  }

  get(key: string): V | undefined {
    return this.#values.get(key);
  }

  set(key: string, value: V): void {
    const before = this.take(key);
    if (before !== undefined) this.#letGo(before);
    this.#values.set(key, value);
    if (this.#values.size <= this.#maxEntries) return;
    for (const [oldest, leaving] of this.#values) {
      this.#values.delete(oldest);
      this.#letGo(leaving);
      return;
    }
  }

  /** Takes a value out without letting go of it. */
  take(key: string): V | undefined {
    const value = this.#values.get(key);
    this.#values.delete(key);
    return value;
  }

  clear(): void {
    const values = [...this.#values.values()];
    this.#values.clear();
    for (const value of values) this.#letGo(value);
  }
}
