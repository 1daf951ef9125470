import type { BlobPaths, Path } from "./blob-paths.js";
import type { Piece } from "./part.js";

/** Renders a value as `JSON.stringify` does, in pieces: its blobs need not be loaded. */
export function jsonPieces(value: unknown, path: Path, blobs: BlobPaths): readonly Piece[] {
  if (!blobs.isWithin(path)) return [JSON.stringify(value)];
  const blob = blobs.at(path);
  if (blob !== undefined) return ['"', { ref: blob.ref, isEscaped: true }, '"'];
  if (Array.isArray(value)) {
    const items = value.map((item, index) => jsonPieces(item, [...path, index], blobs));
    return ["[", ...joined(items), "]"];
  }
  const entries = Object.entries(value as object).map(
    ([key, child]): [string, readonly Piece[]] => [key, jsonPieces(child, [...path, key], blobs)],
  );
  return objectPieces(entries);
}

/** Renders an object whose values are in pieces. */
export function objectPieces(
  entries: readonly (readonly [key: string, value: readonly Piece[]])[],
): readonly Piece[] {
  const members = entries.map(([key, value]) => [`${JSON.stringify(key)}:`, ...value]);
  return ["{", ...joined(members), "}"];
}

function joined(lists: readonly (readonly Piece[])[]): Piece[] {
  return lists.flatMap((pieces, index) => (index === 0 ? pieces : [",", ...pieces]));
}
