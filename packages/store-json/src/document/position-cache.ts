import { keptBytes } from "./chain.js";
import type { Position } from "./position.js";

/** Documents whose position is cached: some three kilobytes each, and their head. */
const MAX_POSITIONS = 1_000;
/** Bytes of heads and call records that all cached positions keep. */
const MAX_KEPT_BYTES = 16_777_216;

/** Positions of the documents that were used last, by directory. */
export class PositionCache {
  readonly #positions = new Map<string, { readonly position: Position; readonly bytes: number }>();
  #bytes = 0;

  /** Returns the position in a document and removes it: its user puts it back when it holds. */
  take(directory: string): Position | undefined {
    const cached = this.#positions.get(directory);
    if (cached === undefined) return undefined;
    this.#positions.delete(directory);
    this.#bytes -= cached.bytes;
    return cached.position;
  }

  /** Returns the position in a document, to look at. */
  peek(directory: string): Position | undefined {
    return this.#positions.get(directory)?.position;
  }

  /** Caches the position in a document, unless it is out of date. */
  put(directory: string, position: Position): void {
    this.take(directory);
    if (position.outdated) return;
    const bytes = keptBytes(position.chain);
    this.#positions.set(directory, { position, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#positions.keys()) {
      if (this.#positions.size <= MAX_POSITIONS && this.#bytes <= MAX_KEPT_BYTES) return;
      this.take(oldest);
    }
  }

  /** Forgets every position. */
  clear(): void {
    this.#positions.clear();
    this.#bytes = 0;
  }
}
