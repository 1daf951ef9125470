import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type KeyValueStore, StateConflictError, StateCorruptError } from "@holdfast/core";
import { uuidv7 } from "@holdfast/core/store-kit";
import { showPath, tooLarge } from "../refusals.js";
import { ChunkStore } from "./chunk-store.js";
import type { Draft } from "./draft.js";
import { fileBytes, type Manifest } from "./manifest.js";
import { ManifestStore, type PutOutcome, type StoredVersion } from "./manifest-store.js";
import { joinBytes } from "./split-bytes.js";

/** How often a read or a change starts again because others changed the file meanwhile. */
const MOST_ATTEMPTS = 200;
const LONGEST_PAUSE_MS = 100;

/** The files of one namespace in a key-value store: a manifest per file, and chunks for what does not fit in it. */
export class FileSpace {
  readonly manifests: ManifestStore;
  readonly chunks: ChunkStore;
  readonly #maxFileBytes: number;

  constructor(keyValue: KeyValueStore, namespace: readonly string[], maxFileBytes: number) {
    this.manifests = new ManifestStore(keyValue, [...namespace, "files"]);
    this.chunks = new ChunkStore(keyValue, [...namespace, "chunks"]);
    this.#maxFileBytes = maxFileBytes;
  }

  /** The bytes of a file, all of one version; null when there is none. */
  async read(path: string): Promise<Uint8Array | null> {
    let current = await this.manifests.get(path);
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      if (current === null || current.manifest.isVacant) return null;
      const { chunks, tail } = current.manifest;
      const bytes = fileBytes(current.manifest);
      if (bytes > this.#maxFileBytes) throw tooLarge(path, bytes, this.#maxFileBytes);
      const pieces = await this.chunks.read(path, chunks);
      if (pieces !== null) return joinBytes([...pieces, tail]);
      current = await this.#changed(current);
    }
    throw busy("read", path);
  }

  /**
   * Changes a file from whatever version is there.
   *
   * @param plan - what to make of the version that is there; null when chunks of it are gone
   * @param sweeps - whether to look for chunks that nobody uses any more even when none were stored
   */
  async change(
    path: string,
    plan: (current: Manifest | null) => Promise<Draft | null>,
    sweeps: boolean,
  ): Promise<void> {
    let current = await this.manifests.get(path);
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      const draft = await plan(current?.manifest.isVacant ? null : (current?.manifest ?? null));
      if (draft === null) {
        current = current && (await this.#changed(current));
        continue;
      }
      const outcome = await this.#apply(path, current, draft);
      if (outcome.isPut) {
        const mayLeave = sweeps || draft.upload.length > 0;
        if (outcome.current.manifest.mayHaveChunks && mayLeave) await this.#sweep(path);
        return;
      }
      current = outcome.current;
      await pause(attempt);
    }
    throw busy("change", path);
  }

  /** Deletes a file; whether there was one. */
  async delete(path: string): Promise<boolean> {
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      const current = await this.manifests.get(path);
      if (current === null) return false;
      const { isVacant, mayHaveChunks } = current.manifest;
      const remove = mayHaveChunks ? this.vacate(current) : this.manifests.remove(current);
      if (await remove) return !isVacant;
      await pause(attempt);
    }
    throw busy("delete", path);
  }

  /**
   * Deletes a manifest after its chunks: in between it says that there is no file, so that a crash leaves something from
   * which the chunks can be found.
   *
   * @returns false when another version is there; nothing was changed then
   */
  async vacate(current: StoredVersion): Promise<boolean> {
    const { path } = current.manifest;
    // Also where it is vacant already: only under a later manifest are the chunks of a first write that was given up dead.
    const vacant = { chunks: [], tail: new Uint8Array(), isVacant: true, mayHaveChunks: true };
    const outcome = await this.manifests.put(successor(path, current, vacant), current.version);
    if (!outcome.isPut) return false;
    try {
      await this.chunks.sweep(path, () => this.#manifest(path));
      // Whoever begins the file again meanwhile keeps the manifest.
      await this.manifests.remove(outcome.current);
    } catch {
      // The file is gone all the same; a listing clears the rest away.
    }
    return true;
  }

  /**
   * The version after one of which a chunk is gone.
   *
   * @throws StateCorruptError when there is none: then the chunk is lost
   */
  async #changed({ manifest, version }: StoredVersion): Promise<StoredVersion | null> {
    const current = await this.manifests.get(manifest.path);
    if (current?.version !== version) return current;
    throw new StateCorruptError(
      `a part of the file ${showPath(manifest.path)} is missing in the store; restore it, or delete the file`,
    );
  }

  /** Deletes chunks that nobody uses any more; what cannot be deleted now is left for the next time. */
  async #sweep(path: string): Promise<void> {
    await this.chunks.sweep(path, () => this.#manifest(path)).catch(() => undefined);
  }

  async #manifest(path: string): Promise<Manifest | null> {
    return (await this.manifests.get(path))?.manifest ?? null;
  }

  async #apply(
    path: string,
    current: StoredVersion | null,
    { keep, upload, tail }: Draft,
  ): Promise<PutOutcome> {
    let base = current;
    if (upload.length === 0) {
      const next = successor(path, base, { chunks: keep, tail, isVacant: false });
      return this.manifests.put(next, base?.version ?? null);
    }
    if (base === null || !base.manifest.mayHaveChunks) {
      // Chunks are stored only where a manifest tells of them: else nobody would find those that a crash leaves.
      const modifiedAt = base?.manifest.modifiedAt ?? new Date().toISOString();
      const announced = successor(path, base, { mayHaveChunks: true, modifiedAt });
      const outcome = await this.manifests.put(announced, base?.version ?? null);
      if (!outcome.isPut) return outcome;
      base = outcome.current;
    }
    const chunks = [...keep, ...(await this.chunks.upload(base.manifest, upload))];
    const next = successor(path, base, { chunks, tail, isVacant: false });
    return this.manifests.put(next, base.version);
  }
}

/** The manifest after `current`, with some changes; the first of a new life where there is none. */
function successor(
  path: string,
  current: StoredVersion | null,
  changes: Partial<Manifest>,
): Manifest {
  const before: Manifest = current?.manifest ?? {
    path,
    isVacant: true,
    life: randomBytes(8).toString("hex"),
    seq: 0,
    id: "",
    modifiedAt: "",
    chunks: [],
    tail: new Uint8Array(),
    mayHaveChunks: false,
  };
  const modifiedAt = new Date().toISOString();
  return { ...before, modifiedAt, ...changes, seq: before.seq + 1, id: uuidv7() };
}

async function pause(attempt: number): Promise<void> {
  const longest = Math.min(LONGEST_PAUSE_MS, 2 ** attempt);
  await sleep(Math.random() * longest);
}

function busy(verb: string, path: string): StateConflictError {
  return new StateConflictError(
    `could not ${verb} ${showPath(path)}: others changed it ${MOST_ATTEMPTS} times meanwhile; try again`,
  );
}
