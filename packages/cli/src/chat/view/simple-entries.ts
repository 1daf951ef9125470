import { wrapTextWithAnsi } from "@earendil-works/pi-tui";
import { plural } from "../../terminal/format.js";
import { SafeTextStream, safeText } from "../../terminal/safe-text.js";
import type { Theme } from "../screen/theme.js";
import type { StatusLine } from "../status-line.js";
import { Entry } from "./entry.js";

/** Rows of thinking and of pasted text that are shown at first. */
const FEW_ROWS = 6;

/** Message of the person. */
export class SaidEntry extends Entry {
  override readonly kind = "said";
  readonly #theme: Theme;
  readonly #text: string;

  constructor(theme: Theme, text: string) {
    super();
    this.#theme = theme;
    this.#text = safeText(text).replaceAll("\t", "  ");
  }

  protected override draw(width: number): readonly string[] {
    const rows = this.#text.split("\n").flatMap((line) => wrapTextWithAnsi(line, width - 2));
    const shown = this.isOpen || rows.length <= 2 * FEW_ROWS ? rows : rows.slice(0, FEW_ROWS);
    const lines = shown.map((row, index) =>
      index === 0
        ? `${this.#theme.accent("›")} ${this.#theme.bold(row)}`
        : `  ${this.#theme.bold(row)}`,
    );
    const hidden = rows.length - shown.length;
    return hidden > 0 ? [...lines, this.#theme.dim(`  … ${plural(hidden, "more line")}`)] : lines;
  }
}

/** Thinking of the model: the last rows while it thinks, then how much there was. */
export class ThinkingEntry extends Entry {
  override readonly kind = "thinking";
  readonly #theme: Theme;
  readonly #safe = new SafeTextStream();
  #text = "";
  #isDone = false;

  constructor(theme: Theme) {
    super();
    this.#theme = theme;
  }

  /** Adds a piece. */
  append(piece: string): void {
    this.#text += this.#safe.push(piece);
    this.changed();
  }

  /** Shows only the first row from now on. */
  finish(): void {
    this.#isDone = true;
    this.changed();
  }

  protected override draw(width: number): readonly string[] {
    const { dim } = this.#theme;
    const text = this.#text.trim().replaceAll("\t", "  ");
    if (text === "") return [];
    const rows = text.split("\n").flatMap((line) => wrapTextWithAnsi(line, Math.max(1, width - 2)));
    const limit = this.isOpen ? rows.length : this.#isDone ? 1 : FEW_ROWS;
    const shown = this.#isDone ? rows.slice(0, limit) : rows.slice(-limit);
    const hidden = rows.length - shown.length;
    const note = hidden > 0 && this.#isDone ? ` … ${plural(hidden, "more line")}` : "";
    return shown.map((row, index) => dim(`${index === 0 ? "∴ " : "  "}${row}${note}`));
  }
}

/** Line about what happened, or a line that a command printed. */
export class NoticeEntry extends Entry {
  override readonly kind: string;
  readonly #lines: string[];

  /** @param lines - with the program's own colours, otherwise safe */
  constructor(kind: string, lines: readonly string[]) {
    super();
    this.kind = kind;
    this.#lines = [...lines];
  }

  /** Adds a line. */
  add(line: string): void {
    this.#lines.push(line);
    this.changed();
  }

  protected override draw(width: number): readonly string[] {
    return this.#lines.flatMap((line) => wrapTextWithAnsi(line, width));
  }
}

/** Returns the colour of a status line. */
export function paintStatus(
  { dim, accent, warning }: Theme,
  kind: StatusLine["kind"],
): (text: string) => string {
  return { tool: accent, note: dim, problem: warning }[kind];
}
