import type { JsonValue, KeyValueStore } from "@holdfast/core";
import { showPath } from "../refusals.js";
import { chunkIds, isDeadChunk } from "./chunk-id.js";
import { fromContentValue, toContentValue } from "./content-value.js";
import { chunkPrefix } from "./file-key.js";
import type { ChunkRef, Manifest } from "./manifest.js";
import { splitBytes } from "./split-bytes.js";

/** How many chunks are on their way at the same time: a few megabytes. */
const AT_ONCE = 8;
const PAGE = 500;

/** The chunks of one namespace's files. */
export class ChunkStore {
  readonly #keyValue: KeyValueStore;
  readonly #namespace: readonly string[];

  constructor(keyValue: KeyValueStore, namespace: readonly string[]) {
    this.#keyValue = keyValue;
    this.#namespace = namespace;
  }

  /** Stores bytes as chunks for a successor of `base`. */
  async upload(base: Manifest, bytes: Uint8Array): Promise<ChunkRef[]> {
    const idOf = chunkIds(base);
    const pieces = splitBytes(bytes).map((piece, index) => ({ id: idOf(index), piece }));
    await inBatches(pieces, ({ id, piece }) => {
      const value = toContentValue(piece) as JsonValue;
      return this.#keyValue.put(this.#namespace, chunkPrefix(base.path) + id, value);
    });
    return pieces.map(({ id, piece }) => ({ id, bytes: piece.length }));
  }

  /** The bytes of chunks; null when one of them is gone. */
  async read(path: string, chunks: readonly ChunkRef[]): Promise<Uint8Array[] | null> {
    const pieces: Uint8Array[] = [];
    for (let at = 0; at < chunks.length; at += AT_ONCE) {
      const batch = chunks.slice(at, at + AT_ONCE);
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
   * Deletes the chunks of a file that nobody can use any more, those that a crash left behind included.
   *
   * @param current - reads the file's manifest; called after the chunks were listed
   */
  async sweep(path: string, current: () => Promise<Manifest | null>): Promise<void> {
    const prefix = chunkPrefix(path);
    let cursor: string | undefined;
    do {
      const page = await this.#keyValue.list(this.#namespace, { prefix, cursor, limit: PAGE });
      if (page.keys.length === 0) return;
      const manifest = await current();
      const dead = page.keys.filter((key) => isDeadChunk(key.slice(prefix.length), manifest));
      await inBatches(dead, (key) => this.#keyValue.delete(this.#namespace, key));
      cursor = page.cursor;
    } while (cursor !== undefined);
  }
}

async function inBatches<T>(
  items: readonly T[],
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  for (let at = 0; at < items.length; at += AT_ONCE)
    await Promise.all(items.slice(at, at + AT_ONCE).map(work));
}
