/** Options of a {@link BoundedMap}. */
export interface BoundedMapOptions<V> {
  /** Entries the map holds at most. */
  readonly maxEntries: number;
  /** Evicts the entry that was read or set longest ago (LRU), instead of the one set longest ago. @default false */
  readonly leastRecentlyUsed?: boolean | undefined;
  /** Called with a value that was evicted or replaced; not with one that was deleted. */
  onEvict?(value: V): void;
}

/**
 * Map that evicts its oldest entry when it is full.
 *
 * @example
 * const cache = new BoundedMap<string, Buffer>({ maxEntries: 100, leastRecentlyUsed: true });
 */
export class BoundedMap<K, V> {
  readonly #entries = new Map<K, V>();
  readonly #options: BoundedMapOptions<V>;

  constructor(options: BoundedMapOptions<V>) {
    this.#options = options;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: K): V | undefined {
    const value = this.#entries.get(key);
    if (value !== undefined && this.#options.leastRecentlyUsed) {
      this.#entries.delete(key);
      this.#entries.set(key, value);
    }
    return value;
  }

  set(key: K, value: V): void {
    const replaced = this.delete(key);
    this.#entries.set(key, value);
    if (replaced !== undefined) this.#options.onEvict?.(replaced);
    if (this.#entries.size <= this.#options.maxEntries) return;
    const [oldest] = this.#entries;
    if (oldest === undefined) return;
    this.#entries.delete(oldest[0]);
    this.#options.onEvict?.(oldest[1]);
  }

  /** Removes an entry and returns its value; `onEvict` is not called. */
  delete(key: K): V | undefined {
    const value = this.#entries.get(key);
    this.#entries.delete(key);
    return value;
  }

  /** Evicts everything. */
  clear(): void {
    const values = [...this.#entries.values()];
    this.#entries.clear();
    for (const value of values) this.#options.onEvict?.(value);
  }
}
