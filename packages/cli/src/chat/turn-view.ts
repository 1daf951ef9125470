import type { AgentEvent } from "@holdfast/core";
import { clip, formatBytes, formatCount, formatDuration, plural } from "../terminal/format.js";
import { SafeTextStream, safeLine } from "../terminal/safe-text.js";
import type { Terminal } from "../terminal/terminal.js";

/** Stream of status lines: between the text, or on stderr, so that stdout holds only replies. */
export type StatusStream = "out" | "err";

/**
 * Shows a running call: streamed text, thinking dimmed, one line for everything else.
 *
 * Text that was shown cannot be taken back. A terminal gets a line that says so; where stdout holds only replies, text
 * waits until the model is asked for the next step, or the call ends.
 */
export class TurnView {
  readonly #terminal: Terminal;
  readonly #statusStream: StatusStream;
  #text = new SafeTextStream();
  #shown: "text" | "thinking" | null = null;
  #isAtLineStart = true;
  /** Text of the last request, where stdout holds only replies: it may be taken back. */
  #held = "";

  constructor(terminal: Terminal, statusStream: StatusStream) {
    this.#terminal = terminal;
    this.#statusStream = statusStream;
  }

  /** Shows an event of the call. */
  show(event: AgentEvent): void {
    if (event.type === "text_delta") {
      if (this.#statusStream === "err") this.#held += event.text;
      else this.#stream("text", event.text);
      return;
    }
    if (event.type === "attempt_discarded") this.#held = "";
    if (event.type === "model_call_start" && !event.background) this.#release();
    if (event.type === "thinking_delta") this.#stream("thinking", event.text);
    else if (event.type === "call_end") this.end();
    else {
      const line = statusLine(event);
      if (line !== null) this.status(line);
    }
  }

  /** Prints a status line. */
  status({ kind, text }: StatusLine): void {
    const { colors, columns, isInteractive } = this.#terminal;
    const line = safeLine(text);
    // Files have no width.
    const shown = isInteractive ? clip(line, Math.max(20, columns - 1)) : line;
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

/** Kind of a status line: about a tool, about the harness, or about a problem. */
type StatusKind = "tool" | "note" | "problem";

/** Line about an event; its text may hold control characters. */
export interface StatusLine {
  readonly kind: StatusKind;
  readonly text: string;
}

/** Describes an event; null for those that are not shown as a status line. */
export function statusLine(event: AgentEvent): StatusLine | null {
  switch (event.type) {
    case "queue_wait":
      return note(`waiting for ${plural(event.ahead, "other call")} of this session`);
    case "tool_call_end":
      return { kind: "tool", text: `→ ${event.name} ${JSON.stringify(event.input)}` };
    case "tool_result": {
      const text = `← ${event.name}: ${event.state}, ${formatDuration(event.durationMs)}`;
      return { kind: event.state === "success" ? "tool" : "problem", text };
    }
    case "tool_result_evicted":
      return note(
        `moved the result of ${event.name} to ${event.reference}, ${formatBytes(event.chars)}`,
      );
    case "compaction_end":
      return note(
        `compacted ${event.messagesBefore} → ${event.messagesAfter} messages, ${formatCount(event.tokensBefore)} → ${formatCount(event.tokensAfter)} tokens, ${formatDuration(event.durationMs)}`,
      );
    case "compaction_failed":
      return problem(`compaction failed: ${event.error}`);
    case "compaction_warning":
      return problem(event.warning);
    case "overflow_recovery":
      return event.recovered
        ? note("the request was longer than the model's window; compacted and sent again")
        : null;
    case "memory_flush_end":
      return event.entries > 0 ? note(`noted ${plural(event.entries, "fact")} for later`) : null;
    case "memory_flush_failed":
      return problem(`the long-term memory was not updated: ${event.error}`);
    case "consolidation":
      if (event.state === "failed")
        return problem(`the long-term memory was not consolidated: ${event.error ?? ""}`);
      return event.state === "end" ? note("consolidated the long-term memory") : null;
    case "model_call_end":
      // A stopped call did not fail.
      return event.error === undefined || event.error === "stopped"
        ? null
        : problem(`a model call failed: ${event.error}`);
    case "attempt_discarded":
      return note(
        event.reason === "failed"
          ? "the reply broke off and does not count"
          : `the reply ${event.reason === "retry" || event.reason === "overflow" ? "broke off and" : "was not usable and"} does not count; asking again`,
      );
    case "store_rolled_back":
      return problem(
        "the store was rolled back to an earlier state: saves it had confirmed are lost",
      );
    case "repaired":
      return problem(`repaired ${plural(event.repairs.length, "tool call")} without a result`);
    case "interrupted":
      return note("interrupted; what was said is kept");
    default:
      return null;
  }
}

function note(text: string): StatusLine {
  return { kind: "note", text };
}

function problem(text: string): StatusLine {
  return { kind: "problem", text };
}
