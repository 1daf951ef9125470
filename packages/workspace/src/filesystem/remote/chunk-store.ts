import { randomBytes } from "node:crypto";
import type { JsonValue, KeyValueStore } from "@holdfast/core";
import { showPath } from "@holdfast/core/plugin-kit";
import { fromContentValue, toContentValue } from "./content-value.js";
import { chunkPrefix } from "./file-key.js";
import type { ChunkRef, Manifest } from "./manifest.js";
import { splitBytes } from "./split-bytes.js";

/** Chunks read, written or deleted concurrently; a few megabytes. */
const CONCURRENCY = 8;
const PAGE_KEYS = 500;

/** Chunks of the files of one namespace. */
export class ChunkStore {
  readonly #keyValue: KeyValueStore;
  readonly #namespace: readonly string[];

  constructor(keyValue: KeyValueStore, namespace: readonly string[]) {
    this.#keyValue = keyValue;
    this.#namespace = namespace;
  }

  /** Stores bytes as chunks for the manifest that is to follow `base`. */
  async upload(base: Manifest, bytes: Uint8Array): Promise<ChunkRef[]> {
    const idOf = chunkIds(base);
    const pieces = splitBytes(bytes).map((piece, index) => ({ id: idOf(index), piece }));
    await inBatches(pieces, ({ id, piece }) => {
      const value = toContentValue(piece) as JsonValue;
      return this.#keyValue.put(this.#namespace, chunkPrefix(base.path) + id, value);
    });
    return pieces.map(({ id, piece }) => ({ id, bytes: piece.length }));
  }

  /** Reads chunks; null when one of them is gone. */
  async read(path: string, chunks: readonly ChunkRef[]): Promise<Uint8Array[] | null> {
    const pieces: Uint8Array[] = [];
    for (let at = 0; at < chunks.length; at += CONCURRENCY) {
      const batch = chunks.slice(at, at + CONCURRENCY);
      const keys = batch.map(({ id }) => chunkPrefix(path) + id);
      const values = await this.#keyValue.getMany(this.#namespace, keys);
      for (const [index, chunk] of batch.entries()) {
        const found = values[index];
        if (!found) return null;
        const what = `a part of the file ${showPath(path)}`;
        pieces.push(fromContentValue(found.value, chunk.bytes, what));
      }
    }
    return pieces;
  }

  /**
   * Deletes the chunks of a file that are not and cannot become part of it, including those that a crash left behind.
   *
   * @param current - reads the file's manifest; called after the chunks were listed
   */
  async sweep(path: string, current: () => Promise<Manifest | null>): Promise<void> {
    const prefix = chunkPrefix(path);
    let cursor: string | undefined;
    do {
      const page = await this.#keyValue.list(this.#namespace, { prefix, cursor, limit: PAGE_KEYS });
      if (page.keys.length === 0) return;
      const manifest = await current();
      const garbage = page.keys.filter((key) => isGarbage(key.slice(prefix.length), manifest));
      await inBatches(garbage, (key) => this.#keyValue.delete(this.#namespace, key));
      cursor = page.cursor;
    } while (cursor !== undefined);
  }
}

async function inBatches<T>(
  items: readonly T[],
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  for (let at = 0; at < items.length; at += CONCURRENCY)
    await Promise.all(items.slice(at, at + CONCURRENCY).map(work));
}

/**
 * Makes ids for the chunks of one attempt to change a file. An id names the manifest that the attempt is based on, so
 * that a sweep can tell chunks of an attempt under way from garbage.
 */
function chunkIds({ life, seq }: Manifest): (index: number) => string {
  const attempt = randomBytes(6).toString("hex");
  return (index) => `${life}.${seq}.${attempt}.${index}`;
}

/**
 * Returns true for a chunk that cannot become part of the file any more, given a manifest that was read after the chunk
 * was listed.
 *
 * An attempt ends in a compare-and-set on the manifest it is based on, and no manifest comes back: where a later one is
 * stored, or another life has begun, or none is left, the attempt has failed or is about to.
 */
function isGarbage(id: string, current: Manifest | null): boolean {
  if (current === null) return true;
  const [life, seq] = id.split(".");
  if (life === current.life && Number(seq) >= current.seq) return false;
  return !current.chunks.some((chunk) => chunk.id === id);
}
