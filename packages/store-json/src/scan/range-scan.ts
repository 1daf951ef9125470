import { BytePattern } from "./byte-pattern.js";
import { type Kernel, WINDOW_BYTES } from "./kernel.js";
import { LineFinder } from "./line-finder.js";
import type { Probe } from "./probe.js";
import type { ScanFinds, ScanRange } from "./scan-range.js";

const LINE_END = 10;
/** How a record says that long texts of its are kept apart; within a text the quotes would be escaped. */
const blobLine = BytePattern.of('"blobs":[{') as BytePattern;

/**
 * Looks through a range, one window after the other: read what `wanted` says into the kernel's memory, then `take` it.
 *
 * It keeps nothing in that memory from one window to the next: several scans may use one kernel in turns.
 */
export class RangeScan {
  readonly #kernel: Kernel;
  readonly #range: ScanRange;
  readonly #finders: readonly LineFinder[];
  /** Bytes of a window before and behind those where a match may have its anchor. */
  readonly #back: number;
  readonly #ahead: number;
  /** Anchors before this offset are dealt with. */
  #next: number;
  #inHeader: boolean;

  constructor(kernel: Kernel, probe: Probe, range: ScanRange) {
    const { seek, from } = range;
    const pattern = seek === "blob" ? probe.blob : probe.line;
    const patterns = seek === "lines_and_blobs" ? [pattern, blobLine] : [pattern];
    this.#kernel = kernel;
    this.#range = range;
    this.#finders = patterns.map((each) => new LineFinder(kernel, each));
    this.#back = Math.max(...patterns.map((each) => each?.back ?? 0));
    this.#ahead = Math.max(...patterns.map((each) => each?.ahead ?? 0));
    this.#next = from;
    this.#inHeader = seek !== "blob" && from === 0;
  }

  /** What to read next, at most {@link WINDOW_BYTES}; null at the end. */
  get wanted(): { readonly at: number; readonly bytes: number } | null {
    if (this.#next >= this.#range.to) return null;
    const at = Math.max(0, this.#next - this.#back);
    return { at, bytes: Math.min(WINDOW_BYTES, this.#range.to + this.#ahead - at) };
  }

  /** `bytes` of what was wanted are in the kernel's memory: fewer than wanted when the file ends there. */
  take(bytes: number): void {
    const { wanted } = this;
    if (wanted === null) return;
    const { at } = wanted;
    const isLast = bytes < wanted.bytes;
    const end = isLast ? this.#range.to : Math.min(this.#range.to, at + bytes - this.#ahead);
    let from = this.#next - at;
    if (this.#inHeader) {
      const lineEnd = this.#kernel.memory.subarray(0, bytes).indexOf(LINE_END, from);
      from = lineEnd === -1 ? bytes : lineEnd + 1;
      this.#inHeader = lineEnd === -1;
    }
    for (const finder of this.#finders) finder.look(at, from, Math.min(end - at, bytes), bytes);
    const isFound = this.#range.seek === "blob" && (this.#finders[0]?.found.length ?? 0) > 0;
    this.#next = isLast || isFound ? this.#range.to : end;
  }

  /** What was found so far. */
  get finds(): ScanFinds {
    const [matches, blobLines] = this.#finders;
    return {
      matches: Float64Array.from(matches?.found ?? []),
      blobLines: Float64Array.from(blobLines?.found ?? []),
    };
  }
}
