import { cutIndex } from "@holdfast/core/plugin-kit";
import type { Terminal } from "../terminal/terminal.js";

/** Some lines at the bottom of a terminal that are drawn again and again; other lines go above them. */
export class StatusBlock {
  readonly #terminal: Terminal;
  #lines: readonly string[] = [];

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** Draws the block anew. */
  show(lines: readonly string[]): void {
    const erase = this.#erasing();
    // A line that wraps would be two, and the next erasing would miss one.
    const width = Math.max(1, this.#terminal.columns - 1);
    this.#lines = lines.map((line) => line.slice(0, cutIndex(line, width)));
    this.#terminal.out.write(`${erase}${this.#text()}`);
  }

  /** Writes a line that stays, above the block. */
  above(line: string): void {
    this.#terminal.out.write(`${this.#erasing()}${line}\n${this.#text()}`);
  }

  /** Takes the block away. */
  clear(): void {
    this.#terminal.out.write(this.#erasing());
    this.#lines = [];
  }

  #text(): string {
    return this.#lines.map((line) => `${line}\n`).join("");
  }

  #erasing(): string {
    return this.#lines.length === 0 ? "" : `\u001b[${this.#lines.length}A\r\u001b[J`;
  }
}
