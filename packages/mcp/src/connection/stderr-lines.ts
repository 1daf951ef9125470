import type { Readable } from "node:stream";

const maxLineChars = 4_000;
const keptLines = 10;

/** Reads what a server process writes to stderr, so that it never blocks on a full pipe, and keeps the last lines. */
export class StderrLines {
  readonly #last: string[] = [];
  #rest = "";

  constructor(stream: Readable, onLine: ((line: string) => void) | undefined) {
    stream.setEncoding("utf8");
    stream.on("data", (text: string) => {
      const lines = (this.#rest + text).split("\n");
      // Of a line that never ends what is kept stays small.
      this.#rest = (lines.pop() ?? "").slice(0, maxLineChars);
      for (const line of lines) this.#add(line.slice(0, maxLineChars), onLine);
    });
    stream.on("end", () => {
      if (this.#rest !== "") this.#add(this.#rest, onLine);
      this.#rest = "";
    });
    stream.on("error", () => {});
  }

  /** The last few lines, a partial one too. */
  get last(): readonly string[] {
    return [...this.#last, this.#rest].filter((line) => line.trim() !== "");
  }

  #add(line: string, onLine: ((line: string) => void) | undefined): void {
    this.#last.push(line);
    if (this.#last.length > keptLines) this.#last.shift();
    try {
      onLine?.(line);
    } catch {
      // A listener of the program must not end the connection.
    }
  }
}
