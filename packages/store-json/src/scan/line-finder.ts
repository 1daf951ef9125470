import type { BytePattern } from "./byte-pattern.js";
import type { Kernel } from "./kernel.js";

const LINE_END = 10;

/** Collects the lines with a match, by the offset of the first one in each, over windows in ascending order. */
export class LineFinder {
  readonly found: number[] = [];
  readonly #kernel: Kernel;
  readonly #pattern: BytePattern | null;
  /** The line that matched last goes on in the next window. */
  #skipsLine = false;

  /** @param pattern - null finds nothing */
  constructor(kernel: Kernel, pattern: BytePattern | null) {
    this.#kernel = kernel;
    this.#pattern = pattern;
  }

  /**
   * @param at - offset in the file of what stands first in the kernel's memory
   * @param from - in the memory, where to begin
   * @param to - where anchors end
   * @param end - where the bytes end
   */
  look(at: number, from: number, to: number, end: number): void {
    if (this.#pattern === null) return;
    for (let next = this.#skipsLine ? this.#lineStart(from, end) : from; next < to; ) {
      const anchor = this.#pattern.find(this.#kernel, next, to, end);
      if (anchor === -1) return;
      this.found.push(at + anchor);
      next = this.#lineStart(anchor, end);
    }
  }

  /** Where the line after this one starts; `end` when it is not here. */
  #lineStart(from: number, end: number): number {
    const lineEnd = this.#kernel.memory.subarray(0, end).indexOf(LINE_END, from);
    this.#skipsLine = lineEnd === -1;
    return lineEnd === -1 ? end : lineEnd + 1;
  }
}
