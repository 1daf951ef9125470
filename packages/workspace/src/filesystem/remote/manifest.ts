import { type JsonValue, StateCorruptError } from "@holdfast/core";
import { showPath } from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";
import { type ContentValue, fromContentValue, toContentValue } from "./content-value.js";

/** Part of a file that is stored under a key of its own. */
export interface ChunkRef {
  readonly id: string;
  readonly bytes: number;
}

/**
 * Value under the key of a file. The file's content is the chunks in order, then the tail.
 *
 * A vacant manifest is not a file: it stands for one that is about to be written for the first time, or whose chunks are
 * being deleted.
 */
export interface Manifest {
  readonly path: string;
  readonly isVacant: boolean;
  /** Id of this life of the file, from its first manifest to its deletion; never reused. */
  readonly life: string;
  /** Number of this manifest within the life. */
  readonly seq: number;
  /** Id of this very manifest, by which a writer that got no reply recognises its own. */
  readonly id: string;
  readonly modifiedAt: string;
  readonly chunks: readonly ChunkRef[];
  readonly tail: Uint8Array;
  /** True where chunks may be stored, in use or left behind. Chunks are stored only under a manifest that says so. */
  readonly mayHaveChunks: boolean;
}

interface StoredManifest {
  readonly v: 1;
  readonly path: string;
  readonly vacant: boolean;
  readonly life: string;
  readonly seq: number;
  readonly id: string;
  readonly modifiedAt: string;
  readonly chunks: readonly (readonly [string, number])[];
  readonly tail: ContentValue;
  readonly tailBytes: number;
  readonly chunked: boolean;
}

const isChunk = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.length === 2 &&
  typeof value[0] === "string" &&
  Number.isSafeInteger(value[1]);

const storedSchema: s.Schema<StoredManifest> = s.object({
  v: s.literal(1),
  path: s.string(),
  vacant: s.boolean(),
  life: s.string(),
  seq: s.int(),
  id: s.string(),
  modifiedAt: s.string(),
  chunks: s.array(s.custom<readonly [string, number]>(isChunk)),
  tail: s.union([s.object({ text: s.string() }), s.object({ base64: s.string() })]),
  tailBytes: s.int(),
  chunked: s.boolean(),
});

/** Returns the size of the file. */
export function fileBytes({ chunks, tail }: Pick<Manifest, "chunks" | "tail">): number {
  return chunks.reduce((sum, chunk) => sum + chunk.bytes, tail.length);
}

/** Encodes a manifest for JSON. */
export function manifestValue(manifest: Manifest): JsonValue {
  const stored: StoredManifest = {
    v: 1,
    path: manifest.path,
    vacant: manifest.isVacant,
    life: manifest.life,
    seq: manifest.seq,
    id: manifest.id,
    modifiedAt: manifest.modifiedAt,
    chunks: manifest.chunks.map(({ id, bytes }) => [id, bytes] as const),
    tail: toContentValue(manifest.tail),
    tailBytes: manifest.tail.length,
    chunked: manifest.mayHaveChunks,
  };
  return stored as unknown as JsonValue;
}

/**
 * Decodes a manifest.
 *
 * @param key - key of the manifest, for the error
 * @throws StateCorruptError
 */
export function readManifest(key: string, value: JsonValue): Manifest {
  const parsed = storedSchema.safeParse(value);
  const what = `the manifest of the file ${showPath(key)}`;
  if (!parsed.success)
    throw new StateCorruptError(
      `${what} cannot be read; it was written by something else or by a newer release`,
    );
  const { path, vacant, life, seq, id, modifiedAt, chunks, tail, tailBytes, chunked } = parsed.data;
  return {
    path,
    isVacant: vacant,
    life,
    seq,
    id,
    modifiedAt,
    chunks: chunks.map(([chunk, bytes]) => ({ id: chunk, bytes })),
    tail: fromContentValue(tail, tailBytes, what),
    mayHaveChunks: chunked,
  };
}
