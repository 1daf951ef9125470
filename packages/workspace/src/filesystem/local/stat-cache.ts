import { lstatSync, type Stats } from "node:fs";
import { lstat } from "node:fs/promises";
import { BoundedMap } from "@holdfast/core/plugin-kit";
import { hasIoCode } from "../io-error.js";

/** Paths whose status is read at once: the system has it in memory, and asking in another thread costs ten times the answer. */
const AT_ONCE = 32;
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
  /** Status of the sources: those on the way first. */
  readonly found: readonly Found[];
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
      this.#kept.set(key, { value, sources, found });
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

async function isUnchanged({ sources, found }: Kept<unknown>): Promise<boolean> {
  const now = await statsOf(sources);
  return now.every((each, index) => isSame(each, found[index], index < sources.way.length));
}

/** @param isOnWay - only whether it is the same directory matters */
function isSame(now: Found, before: Found | undefined, isOnWay: boolean): boolean {
  if (typeof now === "string" || typeof before !== "object")
    return now === "absent" && before === now;
  if (now.dev !== before.dev || now.ino !== before.ino || now.mode !== before.mode) return false;
  return (
    isOnWay ||
    (now.size === before.size && now.mtimeMs === before.mtimeMs && now.ctimeMs === before.ctimeMs)
  );
}

function statsOf({ way, content }: Sources): Found[] | Promise<Found[]> {
  const paths = [...way, ...content];
  return paths.length <= AT_ONCE ? paths.map(statNow) : statMany(paths);
}

/** A large workspace must not keep the process from other work. */
async function statMany(paths: readonly string[]): Promise<Found[]> {
  const found: Found[] = [];
  for (let at = 0; at < paths.length; at += AT_ONCE)
    found.push(
      ...(await Promise.all(
        paths.slice(at, at + AT_ONCE).map((path) => lstat(path).catch(missingOrUnknown)),
      )),
    );
  return found;
}

function statNow(path: string): Found {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? "absent";
  } catch (error) {
    return missingOrUnknown(error);
  }
}

function missingOrUnknown(error: unknown): "absent" | "unknown" {
  return hasIoCode(error, "ENOENT") ? "absent" : "unknown";
}
