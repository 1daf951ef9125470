import { formatCount, plural } from "../../terminal/format.js";
import { safeLine } from "../../terminal/safe-text.js";
import type { Theme } from "../screen/theme.js";
import type { StatusLine } from "../status-line.js";
import { Entry } from "./entry.js";
import { paintStatus } from "./simple-entries.js";

/** Lines about a subagent that are shown at first: the last ones. */
const FEW_LINES = 4;
const INDENT = "  ";

/** Work of a subagent below the call that waits for it, with its own progress. */
export class TaskEntry extends Entry {
  override readonly kind = "tool";
  readonly #theme: Theme;
  readonly #title: string;
  readonly #lines: StatusLine[] = [];
  #calls = 0;
  #tokens = 0;

  constructor(theme: Theme, title: string) {
    super();
    this.#theme = theme;
    this.#title = title;
  }

  /** Adds a line about its work. */
  add(line: StatusLine): void {
    this.#lines.push(line);
    this.changed();
  }

  /** Counts a tool call of the subagent. */
  countCall(): void {
    this.#calls++;
    this.changed();
  }

  /** Counts the tokens of a request of the subagent. */
  countTokens(tokens: number): void {
    this.#tokens += tokens;
    this.changed();
  }

  protected override draw(): readonly string[] {
    const { dim } = this.#theme;
    const shown = this.isOpen ? this.#lines : this.#lines.slice(-FEW_LINES);
    const hidden = this.#lines.length - shown.length;
    const parts = [
      safeLine(this.#title),
      plural(this.#calls, "tool call"),
      ...(this.#tokens > 0 ? [`${formatCount(this.#tokens)} tokens`] : []),
      ...(hidden > 0 ? [`${plural(hidden, "earlier line")} (Ctrl-O opens)`] : []),
    ];
    return [
      dim(`${INDENT}┆ ${parts.join(" · ")}`),
      ...shown.map(({ kind, text, depth = 1 }) =>
        paintStatus(this.#theme, kind)(INDENT.repeat(depth) + safeLine(text)),
      ),
    ];
  }
}
