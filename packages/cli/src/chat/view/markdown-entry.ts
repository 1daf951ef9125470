import { Markdown } from "@earendil-works/pi-tui";
import { SafeTextStream } from "../../terminal/safe-text.js";
import type { Theme } from "../screen/theme.js";
import { Entry } from "./entry.js";

/** Line behind which a text cannot be divided: one that goes on with a list, a quote or an indented block. */
const CONTINUES = /^(?:\s|[-*+>]\s|\d+[.)]\s)/u;
const FENCE = /^ {0,3}(`{3,}|~{3,})/u;

/**
 * Text of the model, drawn as Markdown while it arrives. Paragraphs, lists and code that are complete are drawn once, so that
 * each new piece costs what the last of them costs, however long the text is.
 */
export class MarkdownEntry extends Entry {
  override readonly kind = "text";
  readonly #theme: Theme;
  readonly #safe = new SafeTextStream();
  readonly #settled: Markdown[] = [];
  readonly #last: Markdown;
  /** Text of the block that may still grow. */
  #tail = "";

  constructor(theme: Theme, text = "") {
    super();
    this.#theme = theme;
    this.#last = new Markdown("", 0, 0, theme.markdown);
    if (text !== "") this.append(text);
  }

  /** Adds a piece of the text. */
  append(piece: string): void {
    const text = this.#safe.push(piece);
    this.#tail += text;
    if (text.includes("\n")) this.#settle();
    this.#last.setText(this.#tail);
    this.changed();
  }

  /** Moves complete blocks out of the tail. */
  #settle(): void {
    const lines = this.#tail.split("\n");
    let [from, fence]: [number, string | null] = [0, null];
    for (const [index, line] of lines.entries()) {
      const [, mark] = FENCE.exec(line) ?? [];
      if (fence !== null) {
        if (mark !== undefined && line.trim().startsWith(fence)) fence = null;
        continue;
      }
      const isBoundary = index > from && lines[index - 1]?.trim() === "" && line !== "";
      // The last line may still become something else.
      if (isBoundary && index < lines.length - 1 && !CONTINUES.test(line)) {
        const block = lines.slice(from, index).join("\n").trimEnd();
        if (block !== "") this.#settled.push(new Markdown(block, 0, 0, this.#theme.markdown));
        from = index;
      }
      if (mark !== undefined) fence = mark;
    }
    this.#tail = lines.slice(from).join("\n");
  }

  override invalidate(): void {
    for (const block of [...this.#settled, this.#last]) block.invalidate();
    super.invalidate();
  }

  protected override draw(width: number): readonly string[] {
    const lines: string[] = [];
    for (const block of [...this.#settled, this.#last]) {
      const drawn = block.render(width);
      if (drawn.length === 0) continue;
      if (lines.length > 0) lines.push("");
      lines.push(...drawn);
    }
    return lines;
  }
}
