import type { Component } from "@earendil-works/pi-tui";
import type { AgentEvent } from "@holdfast/core";
import { formatCount, plural } from "../../terminal/format.js";
import { safeLine } from "../../terminal/safe-text.js";
import { fit } from "../view/entry.js";
import type { Theme } from "./theme.js";

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"] as const;
/** Time between two frames. */
export const FRAME_MS = 250;

const ASKING = "Waiting for your answer";

const purposes: Readonly<Record<string, string>> = {
  reasoning: "Thinking",
  explanation: "Explaining",
  summary: "Summarising the older part of the conversation",
  memory_flush: "Noting facts for later",
  consolidation: "Consolidating the long-term memory",
};

/** Line that says what is going on, and for how long. */
export class Activity implements Component {
  readonly #theme: Theme;
  /** Says how to stop it. */
  readonly #hint: string;
  #doing: string | null = null;
  #since = 0;
  #frame = 0;
  #outputTokens = 0;
  /** Why the last request failed. */
  #failure: string | null = null;
  readonly #running = new Map<string, string>();

  constructor(theme: Theme, hint: string) {
    this.#theme = theme;
    this.#hint = hint;
  }

  get isOn(): boolean {
    return this.#doing !== null;
  }

  /** Begins something. */
  begin(doing: string): void {
    this.#since = Date.now();
    this.#outputTokens = 0;
    this.#failure = null;
    this.#running.clear();
    this.#doing = doing;
  }

  /** Ends it. */
  end(): void {
    this.#doing = null;
  }

  /** Shows the next frame. */
  tick(): void {
    this.#frame++;
  }

  /** Says what an event of the running call means. */
  note(event: AgentEvent): void {
    if (this.#doing === null) return;
    this.#doing = this.#after(event) ?? this.#doing;
  }

  /** Says something else from now on. */
  say(doing: string): void {
    if (this.#doing !== null) this.#doing = doing;
  }

  /** Says that a person is to answer. */
  ask(): void {
    this.say(ASKING);
  }

  #after(event: AgentEvent): string | null {
    switch (event.type) {
      case "queue_wait":
        return `Waiting for the session: ${plural(event.ahead, "other call")} first`;
      case "state_loaded":
        return "Thinking";
      case "model_call_start": {
        const doing = purposes[event.purpose] ?? `Asking the model (${safeLine(event.purpose)})`;
        if (event.attempt === 1) return doing;
        const why = this.#failure === null ? "" : `: ${this.#failure}`;
        return `Retrying, attempt ${event.attempt}${why}`;
      }
      case "model_call_end":
        this.#outputTokens += event.usage.outputTokens;
        this.#failure = event.error === undefined ? null : safeLine(event.error);
        return event.error === undefined ? null : `Retrying: ${this.#failure}`;
      case "text_delta":
        return "Writing";
      case "thinking_delta":
        return "Thinking";
      case "tool_call_start":
        return `Calling ${safeLine(event.name)}`;
      case "tool_call_end":
        this.#running.set(event.toolCallId, safeLine(event.name));
        return this.#tools();
      case "tool_result":
        this.#running.delete(event.toolCallId);
        return this.#running.size > 0 ? this.#tools() : "Thinking";
      case "compaction_start":
        return `Compacting ${plural(event.messages, "message")}, ${formatCount(event.tokens)} tokens`;
      case "compaction_end":
        return "Thinking";
      case "interrupted":
        return "Interrupting";
      case "run_lost":
        return "Its process died; waiting for another one to go on";
      default:
        return null;
    }
  }

  #tools(): string {
    return `Running ${[...new Set(this.#running.values())].join(", ")}`;
  }

  invalidate(): void {}

  render(width: number): string[] {
    if (this.#doing === null) return [];
    const { accent, dim } = this.#theme;
    const seconds = Math.floor((Date.now() - this.#since) / 1_000);
    const time =
      seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
    const used = this.#outputTokens > 0 ? ` · ${formatCount(this.#outputTokens)} tokens` : "";
    const frame = accent(FRAMES[this.#frame % FRAMES.length] ?? "");
    // A question says itself what Esc does.
    const hint = this.#doing === ASKING ? "" : ` · ${this.#hint}`;
    const line = `${frame} ${this.#doing}… ${dim(`${time}${used}${hint}`)}`;
    return ["", fit(line, width)];
  }
}
