import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type KeyValueStore, StateConflictError, StateCorruptError } from "@holdfast/core";
import { showPath } from "@holdfast/core/plugin-kit";
import { uuidv7 } from "@holdfast/core/store-kit";
import { tooLarge } from "../limits.js";
import { ChunkStore } from "./chunk-store.js";
import type { Draft } from "./draft.js";
import { fileBytes, type Manifest } from "./manifest.js";
import { ManifestStore, type PutOutcome, type StoredVersion } from "./manifest-store.js";
import { joinBytes } from "./split-bytes.js";

/** Attempts of a read or a change of a file that others keep changing. */
const MAX_ATTEMPTS = 200;
const MAX_BACKOFF_MS = 100;

/** Version under which a file is stored, with its content; both null when there is no file. */
export interface FileVersion {
  readonly version: string | null;
  /** Undefined when the file is larger than was asked for. */
  readonly bytes: Uint8Array | null | undefined;
}

const NO_FILE = { version: null, bytes: null } as const;

/** Files of one namespace in a key-value store: a manifest per file, and chunks for what does not fit into it. */
export class FileSpace {
  readonly manifests: ManifestStore;
  readonly chunks: ChunkStore;
  readonly #maxFileBytes: number;

  constructor(keyValue: KeyValueStore, namespace: readonly string[], maxFileBytes: number) {
    this.manifests = new ManifestStore(keyValue, [...namespace, "files"]);
    this.chunks = new ChunkStore(keyValue, [...namespace, "chunks"]);
    this.#maxFileBytes = maxFileBytes;
  }

  /** Reads a file; null when there is none. */
  async read(path: string): Promise<Uint8Array | null> {
    return (await this.readVersion(path)).bytes ?? null;
  }

  /**
   * Reads one version of a file.
   *
   * @param known - returned if it is still the stored version
   * @param maxBytes - size above which the content is not read
   */
  async readVersion(
    path: string,
    known?: FileVersion,
    maxBytes: number = Number.POSITIVE_INFINITY,
  ): Promise<FileVersion> {
    let current = await this.manifests.get(path);
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      if (current === null || current.manifest.isVacant) return NO_FILE;
      const { version, manifest } = current;
      if (version === known?.version) return known;
      const bytes = fileBytes(manifest);
      if (bytes > this.#maxFileBytes) throw tooLarge(path, bytes, this.#maxFileBytes);
      if (bytes > maxBytes) return { version, bytes: undefined };
      const pieces = await this.chunks.read(path, manifest.chunks);
      if (pieces !== null) return { version, bytes: joinBytes([...pieces, manifest.tail]) };
      current = await this.#changed(current);
    }
    throw busy("read", path);
  }

  /**
   * Changes a file, starting from the current version.
   *
   * @param plan - plans the new content from the current manifest; null when chunks of it are gone
   * @param sweeps - looks for unused chunks even when no new ones were stored
   */
  async change(
    path: string,
    plan: (current: Manifest | null) => Promise<Draft | null>,
    sweeps: boolean,
  ): Promise<void> {
    let current = await this.manifests.get(path);
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
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
      await backOff(attempt);
    }
    throw busy("change", path);
  }

  /** Deletes a file; returns true when there was one. */
  async delete(path: string): Promise<boolean> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const current = await this.manifests.get(path);
      if (current === null) return false;
      const { isVacant, mayHaveChunks } = current.manifest;
      const remove = mayHaveChunks ? this.vacate(current) : this.manifests.remove(current);
      if (await remove) return !isVacant;
      await backOff(attempt);
    }
    throw busy("delete", path);
  }

  /**
   * Deletes the chunks of a file and then its manifest. In between the manifest is vacant, so that the chunks can still be
   * found after a crash.
   *
   * @returns false when another version is stored; nothing was changed then
   */
  async vacate(current: StoredVersion): Promise<boolean> {
    const { path } = current.manifest;
    // Even where it is vacant already: chunks of an abandoned first write become garbage only under a later manifest.
    const vacant = { chunks: [], tail: new Uint8Array(), isVacant: true, mayHaveChunks: true };
    const outcome = await this.manifests.put(successor(path, current, vacant), current.version);
    if (!outcome.isPut) return false;
    try {
      await this.chunks.sweep(path, () => this.#manifest(path));
      // Does nothing where the file was created again meanwhile.
      await this.manifests.remove(outcome.current);
    } catch {
      // The file is gone; a later listing removes the rest.
    }
    return true;
  }

  /**
   * Returns the version that followed one of which a chunk is gone.
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

  /** Deletes unused chunks; those that cannot be deleted now are left for the next sweep. */
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
      // Chunks are stored only under a manifest that announces them: otherwise those that a crash leaves could not be found.
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

/** Makes the manifest that follows `current`, with some changes; the first of a new life where there is none. */
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

/** Exponential backoff with full jitter. */
async function backOff(attempt: number): Promise<void> {
  await sleep(Math.random() * Math.min(MAX_BACKOFF_MS, 2 ** attempt));
}

function busy(verb: string, path: string): StateConflictError {
  return new StateConflictError(
    `could not ${verb} ${showPath(path)}: others changed it ${MAX_ATTEMPTS} times meanwhile; try again`,
  );
}
