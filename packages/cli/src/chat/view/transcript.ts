import type { Component } from "@earendil-works/pi-tui";
import type { Entry } from "./entry.js";

/** Conversation as it is shown, from top to bottom. */
export class Transcript implements Component {
  readonly #entries: Entry[] = [];
  #isOpen = false;

  /** Adds an entry at the end. */
  add<T extends Entry>(entry: T): T {
    entry.isOpen = this.#isOpen;
    this.#entries.push(entry);
    return entry;
  }

  /** Removes an entry. */
  remove(entry: Entry): void {
    const index = this.#entries.indexOf(entry);
    if (index !== -1) this.#entries.splice(index, 1);
  }

  /** Removes everything. */
  clear(): void {
    this.#entries.length = 0;
  }

  get last(): Entry | undefined {
    return this.#entries.at(-1);
  }

  /** Opens what is cut, or closes it again. */
  toggle(): void {
    this.#isOpen = !this.#isOpen;
    for (const entry of this.#entries) entry.isOpen = this.#isOpen;
  }

  invalidate(): void {
    for (const entry of this.#entries) entry.invalidate();
  }

  render(width: number): string[] {
    const lines: string[] = [];
    let above: string | null = null;
    for (const entry of this.#entries) {
      const drawn = entry.render(width);
      if (drawn.length === 0) continue;
      if (above !== null && above !== entry.kind) lines.push("");
      for (const line of drawn) lines.push(line);
      above = entry.kind;
    }
    return lines;
  }
}
