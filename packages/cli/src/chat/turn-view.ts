import type { AgentEvent } from "@holdfast/core";
import { clip } from "../terminal/format.js";
import { SafeTextStream, safeLine } from "../terminal/safe-text.js";
import type { Terminal } from "../terminal/terminal.js";
import { type StatusLine, statusLine } from "./status-line.js";

/** Where lines about the work go: between the text, or on stderr, so that stdout has the replies alone. */
export type StatusStream = "out" | "err";

/** Shows a call while it runs: its text as it comes, thoughts dimmed, one line for everything else. */
export class TurnView {
  readonly #terminal: Terminal;
  readonly #statusStream: StatusStream;
  #text = new SafeTextStream();
  #shown: "text" | "thinking" | null = null;
  #isAtLineStart = true;

  constructor(terminal: Terminal, statusStream: StatusStream) {
    this.#terminal = terminal;
    this.#statusStream = statusStream;
  }

  /** Shows an event of the call. */
  show(event: AgentEvent): void {
    if (event.type === "text_delta") this.#stream("text", event.text);
    else if (event.type === "thinking_delta") this.#stream("thinking", event.text);
    else if (event.type === "call_end") this.end();
    else {
      const line = statusLine(event);
      if (line !== null) this.status(line);
    }
  }

  /** A line of its own. */
  status({ kind, text }: StatusLine): void {
    const { colors, columns, isInteractive } = this.#terminal;
    const line = safeLine(text);
    // In a file nothing is too long.
    const shown = isInteractive ? clip(line, Math.max(20, columns - 1)) : line;
    if (this.#statusStream === "err") {
      this.#terminal.warn(shown);
      return;
    }
    this.end();
    const paint = { tool: colors.cyan, note: colors.dim, trouble: colors.yellow }[kind];
    this.#terminal.line(paint(shown));
  }

  /** Ends the line that the text is in. */
  end(): void {
    this.#write(this.#text.end());
    if (!this.#isAtLineStart) this.#terminal.out.write("\n");
    this.#isAtLineStart = true;
    this.#shown = null;
  }

  #stream(kind: "text" | "thinking", piece: string): void {
    // Thoughts are no part of a reply that goes into a pipe.
    if (kind === "thinking" && this.#statusStream === "err") return;
    if (this.#shown !== null && this.#shown !== kind) this.end();
    this.#shown = kind;
    this.#write(this.#text.push(piece));
  }

  #write(text: string): void {
    if (text === "") return;
    const { colors, out } = this.#terminal;
    out.write(this.#shown === "thinking" ? colors.dim(text) : text);
    this.#isAtLineStart = text.endsWith("\n");
  }
}
