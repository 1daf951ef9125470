import type { AgentEvent } from "@holdfast/core";
import { clip, formatBytes, formatCount, formatDuration, plural } from "../terminal/format.js";
import { SafeTextStream, safeLine } from "../terminal/safe-text.js";
import type { Terminal } from "../terminal/terminal.js";

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

/** How much a line matters: what a tool did, what the harness did, or what went wrong. */
type StatusKind = "tool" | "note" | "trouble";

/** One line about something that happened; its text may hold anything. */
interface StatusLine {
  readonly kind: StatusKind;
  readonly text: string;
}

/** What to say about an event, if anything: text of the reply is shown elsewhere. */
export function statusLine(event: AgentEvent): StatusLine | null {
  switch (event.type) {
    case "queue_wait":
      return note(`waiting for ${plural(event.ahead, "other call")} of this session`);
    case "tool_call_end":
      return { kind: "tool", text: `→ ${event.name} ${JSON.stringify(event.input)}` };
    case "tool_result": {
      const text = `← ${event.name}: ${event.state}, ${formatDuration(event.durationMs)}`;
      return { kind: event.state === "success" ? "tool" : "trouble", text };
    }
    case "tool_result_evicted":
      return note(
        `put aside the result of ${event.name}, ${formatBytes(event.chars)}: ${event.reference}`,
      );
    case "compaction_end":
      return note(
        `compacted ${event.messagesBefore} → ${event.messagesAfter} messages, ${formatCount(event.tokensBefore)} → ${formatCount(event.tokensAfter)} tokens, ${formatDuration(event.durationMs)}`,
      );
    case "compaction_failed":
      return trouble(`compaction failed: ${event.error}`);
    case "overflow_recovery":
      return event.recovered
        ? note("the request was longer than the model's window; made room and sent it again")
        : null;
    case "memory_flush_end":
      return event.entries > 0 ? note(`noted ${plural(event.entries, "fact")} for later`) : null;
    case "memory_flush_failed":
      return trouble(`nothing was noted: ${event.error}`);
    case "consolidation":
      if (event.state === "failed") return trouble(`memory not put in order: ${event.error ?? ""}`);
      return event.state === "end" ? note("put the memory in order") : null;
    case "model_call_end":
      // One that was stopped did not fail.
      return event.error === undefined || event.error === "stopped"
        ? null
        : trouble(`a call of the model failed: ${event.error}`);
    case "run_back":
      return trouble(
        "the store went back to an earlier state: saves that it had confirmed are gone",
      );
    case "repaired":
      return trouble(`repaired ${plural(event.repairs.length, "tool call")} without a result`);
    case "interrupted":
      return note("interrupted; what was said is kept");
    default:
      return null;
  }
}

function note(text: string): StatusLine {
  return { kind: "note", text };
}

function trouble(text: string): StatusLine {
  return { kind: "trouble", text };
}
