import { lstat, type Stats } from "node:fs";
import { BoundedMap } from "@holdfast/core/plugin-kit";
import { hasIoCode } from "../io-error.js";

/** Paths whose status is read concurrently. */
const CONCURRENCY = 32;
/** Age below which a change is uncertain: another one within the same tick of the clock would not show. */
const SETTLED_AFTER_MS = 2_000;

/** Absolute paths that a value was read from. */
export interface Sources {
  /** Directories on the way, which must stay the same ones, whatever else is in them. */
  readonly way: readonly string[];
  /** Files and directories of which any change matters. */
  readonly content: readonly string[];
}

/** Options of a {@link StatCache}. */
export interface StatCacheOptions<T> {
  readonly maxEntries: number;
  /** Returns true for a value that says that there is nothing. */
  isNothing(value: T): boolean;
  /** Returns false for a value that is too large to be kept. @default all are kept */
  isKept?(value: T): boolean;
}

interface Kept<T> {
  readonly value: T;
  readonly sources: Sources;
  readonly stamps: readonly string[];
}

/**
 * Keeps values that were read from files until a `stat` of the files shows a change. Whatever is uncertain is read again: a
 * change in the last seconds, a path whose status cannot be read.
 *
 * A stat follows links on the way to a file, unlike the reader. That is safe: it only decides whether the value read before is
 * still good, and a link in place of a directory is another directory.
 */
export class StatCache<T> {
  readonly #options: StatCacheOptions<T>;
  readonly #kept: BoundedMap<string, Kept<T>>;

  constructor(options: StatCacheOptions<T>) {
    this.#options = options;
    this.#kept = new BoundedMap({ maxEntries: options.maxEntries, leastRecentlyUsed: true });
  }

  /** Returns the value that is kept, the very same object, or reads it. */
  async get(key: string, read: () => Promise<T>, sourcesOf: (value: T) => Sources): Promise<T> {
    const kept = this.#kept.get(key);
    if (kept && (await isUnchanged(kept))) return kept.value;
    const startedAt = Date.now();
    const value = await read();
    this.#kept.delete(key);
    if (this.#options.isKept?.(value) === false) return value;
    const sources = sourcesOf(value);
    const found = await statsOf(sources);
    // Settled before it was read, and so also while it was read.
    if (this.#areCertain(found.slice(sources.way.length), value, startedAt - SETTLED_AFTER_MS))
      this.#kept.set(key, { value, sources, stamps: stampsOf(sources, found) });
    return value;
  }

  #areCertain(content: readonly Found[], value: T, before: number): boolean {
    return content.every((found) =>
      found === "absent"
        ? this.#options.isNothing(value)
        : found !== "unknown" && Math.max(found.mtimeMs, found.ctimeMs) < before,
    );
  }
}

type Found = Stats | "absent" | "unknown";

async function isUnchanged({ sources, stamps }: Kept<unknown>): Promise<boolean> {
  const now = stampsOf(sources, await statsOf(sources));
  return now.every((stamp, index) => stamp === stamps[index] && stamp !== "unknown");
}

async function statsOf({ way, content }: Sources): Promise<Found[]> {
  const paths = [...way, ...content];
  const found: Found[] = [];
  for (let at = 0; at < paths.length; at += CONCURRENCY)
    found.push(...(await Promise.all(paths.slice(at, at + CONCURRENCY).map(statOf))));
  return found;
}

function statOf(path: string): Promise<Found> {
  return new Promise((resolve) =>
    lstat(path, (error, stats) => {
      if (error === null) resolve(stats);
      else resolve(hasIoCode(error, "ENOENT") ? "absent" : "unknown");
    }),
  );
}

function stampsOf({ way }: Sources, found: readonly Found[]): string[] {
  return found.map((each, index) => {
    if (typeof each === "string") return each;
    const { dev, ino, mode, size, mtimeMs, ctimeMs } = each;
    const identity = `${dev} ${ino} ${mode}`;
    return index < way.length ? identity : `${identity} ${size} ${mtimeMs} ${ctimeMs}`;
  });
}
