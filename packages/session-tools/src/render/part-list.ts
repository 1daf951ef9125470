import type { BlobPaths, Path } from "./blob-paths.js";
import { jsonPieces } from "./json-pieces.js";
import type { Part, Piece } from "./part.js";

/** Collects the parts of a message while it is rendered. */
export class PartList {
  readonly parts: Part[] = [];
  readonly blobs: BlobPaths;
  isEcho = false;

  constructor(blobs: BlobPaths) {
    this.blobs = blobs;
  }

  /** Adds text that is not in the message. */
  label(text: string): this {
    return this.#add("label", [text]);
  }

  /** Adds a string as it is. */
  verbatim(value: string, path: Path, kind: Part["kind"] = "text"): this {
    const blob = this.blobs.at(path);
    return this.#add(kind, [blob === undefined ? value : { ref: blob.ref, isEscaped: false }]);
  }

  /** Adds a value as JSON. */
  json(value: unknown, path: Path, kind: Part["kind"] = "json"): this {
    return this.#add(kind, jsonPieces(value, path, this.blobs));
  }

  pieces(pieces: readonly Piece[]): this {
    return this.#add("label", pieces);
  }

  #add(kind: Part["kind"], pieces: readonly Piece[]): this {
    this.parts.push({ kind, isEcho: this.isEcho, pieces });
    return this;
  }
}
