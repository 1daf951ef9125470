import type { AgentEvent, Slot } from "@holdfast/core";
import { clip } from "../terminal/format.js";
import { SafeTextStream, safeLine } from "../terminal/safe-text.js";
import type { Terminal } from "../terminal/terminal.js";
import { type StatusLine, statusLine } from "./status-line.js";
import { SubagentLines } from "./subagent-lines.js";

/** Stream of status lines: between the text, or on stderr, so that stdout holds only replies. */
export type StatusStream = "out" | "err";

/** Indent of lines about a subagent, for each level of delegation. */
const INDENT = "  ";

/**
 * Shows a running call: streamed text, thinking dimmed, one line for everything else.
 *
 * Text that was shown cannot be taken back. A terminal gets a line that says so; where stdout holds only replies, text
 * waits until the model is asked for the next step, or the call ends.
 */
export class TurnView {
  readonly #terminal: Terminal;
  readonly #statusStream: StatusStream;
  readonly #isStreamed: boolean;
  readonly #subagents: SubagentLines;
  #text = new SafeTextStream();
  #shown: "text" | "thinking" | null = null;
  #isAtLineStart = true;
  /** Text of the last request, where stdout holds only replies: it may be taken back. */
  #held = "";

  /**
   * @param isHere - tells whether a session is the one that is shown
   * @param isStreamed - shows text as it arrives, also where stdout holds only replies
   */
  constructor(
    terminal: Terminal,
    statusStream: StatusStream,
    isHere: (slot: Slot) => boolean,
    isStreamed: boolean = statusStream === "out",
  ) {
    this.#terminal = terminal;
    this.#isStreamed = isStreamed;
    this.#statusStream = statusStream;
    this.#subagents = new SubagentLines({ isHere, hasCommands: statusStream === "out" });
  }

  /** Shows an event of the call. */
  show(event: AgentEvent): void {
    if (event.type === "text_delta") {
      if (this.#isStreamed) this.#stream("text", event.text);
      else this.#held += event.text;
      return;
    }
    if (event.type === "attempt_discarded") {
      this.#held = "";
      if (this.#isStreamed && this.#statusStream === "err") this.end();
    }
    if (event.type === "model_call_start" && !event.background) this.#release();
    if (event.type === "thinking_delta") this.#stream("thinking", event.text);
    else if (event.type === "call_end") this.end();
    else {
      const line = this.describe(event);
      if (line !== null) this.status(line);
    }
  }

  /** Describes an event, each only once; null for those that are not shown as a status line. */
  describe(event: AgentEvent): StatusLine | null {
    return this.#subagents.describe(event) ?? statusLine(event);
  }

  /** Prints a status line. */
  status({ kind, text, depth = 0, isWhole = false }: StatusLine): void {
    const { colors, columns, isInteractive } = this.#terminal;
    const line = INDENT.repeat(depth) + safeLine(text);
    // Files have no width.
    const isCut = isInteractive && !isWhole;
    const shown = isCut ? clip(line, Math.max(20, columns - 1)) : line;
    if (this.#statusStream === "err") {
      this.#terminal.warn(shown);
      return;
    }
    this.end();
    const paint = { tool: colors.cyan, note: colors.dim, problem: colors.yellow }[kind];
    this.#terminal.line(paint(shown));
  }

  /** Ends the current line of text. */
  end(): void {
    this.#release();
    this.#write(this.#text.end());
    if (!this.#isAtLineStart) this.#terminal.out.write("\n");
    this.#isAtLineStart = true;
    this.#shown = null;
  }

  #release(): void {
    const text = this.#held;
    this.#held = "";
    if (text !== "") this.#stream("text", text);
  }

  #stream(kind: "text" | "thinking", piece: string): void {
    // Thinking is not part of a piped reply.
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
