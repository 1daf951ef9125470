import { wrapTextWithAnsi } from "@earendil-works/pi-tui";
import type { AgentEvent, JsonValue } from "@holdfast/core";
import { isRecord } from "@holdfast/core/plugin-kit";
import { formatCount, formatDuration, plural } from "../../terminal/format.js";
import { safeLine, safeText } from "../../terminal/safe-text.js";
import { briefInput, inputView } from "../input-view.js";
import type { Theme } from "../screen/theme.js";
import { type DiffLine, diffLines } from "./diff-lines.js";
import { Entry } from "./entry.js";

/** Rows of an output and of a diff that are shown at first. */
const [OUTPUT_ROWS, DIFF_ROWS] = [4, 16];
/** Unchanged lines that are shown around a change. */
const CONTEXT_ROWS = 2;
/** Longest brief input, in characters. */
const BRIEF_CHARS = 400;

type ToolResult = Extract<AgentEvent, { readonly type: "tool_result" }>;

/** Tool call with a short view of its input and output, which opens. */
export class ToolEntry extends Entry {
  override readonly kind = "tool";
  readonly name: string;
  readonly #theme: Theme;
  #input: JsonValue | undefined;
  #progress: JsonValue | undefined;
  #result: Pick<ToolResult, "state" | "durationMs" | "output" | "truncated"> | null = null;

  constructor(theme: Theme, name: string) {
    super();
    this.#theme = theme;
    this.name = name;
  }

  /** Shows the complete input. */
  setInput(input: JsonValue): void {
    this.#input = input;
    this.changed();
  }

  /** Shows how far the tool is. */
  setProgress(progress: JsonValue): void {
    this.#progress = progress;
    this.changed();
  }

  /** Shows the result. */
  setResult(result: Pick<ToolResult, "state" | "durationMs" | "output" | "truncated">): void {
    this.#result = result;
    this.changed();
  }

  protected override draw(width: number): readonly string[] {
    const { bold, dim } = this.#theme;
    const took = this.#result === null ? "" : dim(` ${this.#took()}`);
    const head = `${this.#mark()} ${bold(safeLine(this.name))} ${safeLine(this.#brief())}${took}`;
    const room = Math.max(10, width - 4);
    const body = this.isOpen ? this.#whole() : this.#short(room);
    const rows = body.flatMap((line) => wrapTextWithAnsi(line, room));
    const [first = "", ...more] = wrapTextWithAnsi(head, Math.max(10, width - 2));
    return [
      first,
      ...more.map((row) => `  ${row}`),
      ...rows.map((row, index) => `${dim(index === 0 ? "  └ " : "    ")}${row}`),
    ];
  }

  #mark(): string {
    const { dim, good, bad, warning } = this.#theme;
    if (this.#result === null) return dim("○");
    const { state } = this.#result;
    return (state === "success" ? good : state === "error" ? bad : warning)("●");
  }

  #took(): string {
    const { state = "", durationMs = 0 } = this.#result ?? {};
    return state === "success"
      ? formatDuration(durationMs)
      : `${state}, ${formatDuration(durationMs)}`;
  }

  #brief(): string {
    if (this.#input === undefined) return "…";
    const change = changeOf(this.name, this.#input);
    if (change !== null) return change.path;
    const text = briefInput({ name: this.name, input: this.#input });
    return text.length > BRIEF_CHARS ? `${text.slice(0, BRIEF_CHARS)}…` : text;
  }

  /** @returns the change as a diff, or the first rows of the output, each with a count of what is hidden */
  #short(room: number): readonly string[] {
    const { dim } = this.#theme;
    const change = this.#input === undefined ? null : changeOf(this.name, this.#input);
    if (change !== null && this.#result?.state !== "error" && this.#result?.state !== "denied") {
      const lines = around(diffLines(change.before, change.after));
      const shown = lines.slice(0, DIFF_ROWS).map((line) => this.#diffLine(line));
      const hidden = lines.length - shown.length;
      return hidden > 0
        ? [...shown, dim(`… ${plural(hidden, "more line")} (Ctrl-O opens)`)]
        : shown;
    }
    if (this.#result === null)
      return this.#progress === undefined ? [] : [dim(progressText(this.#progress))];
    const lines = this.#outputLines().flatMap((line) => wrapTextWithAnsi(line, room));
    const shown = lines.slice(0, OUTPUT_ROWS);
    const hidden = lines.length - shown.length + (this.#result.truncated ? 1 : 0);
    return [
      ...shown.map((line) => this.#paint(line)),
      ...(hidden > 0 ? [dim(`… ${plural(hidden, "more line")} (Ctrl-O opens)`)] : []),
    ];
  }

  #whole(): readonly string[] {
    const { dim } = this.#theme;
    const change = this.#input === undefined ? null : changeOf(this.name, this.#input);
    const input =
      change === null
        ? safeText(inputView(this.#input ?? {}, true).text)
            .split("\n")
            .map((line) => dim(line))
        : diffLines(change.before, change.after).map((line) => this.#diffLine(line));
    const left = this.#result?.truncated?.chars ?? 0;
    return [
      ...input.filter((line) => line !== ""),
      ...this.#outputLines().map((line) => this.#paint(line)),
      ...(left > 0 ? [dim(`… ${formatCount(left)} more characters are not kept here`)] : []),
    ];
  }

  #outputLines(): readonly string[] {
    const blocks = this.#result?.output ?? [];
    const text = blocks
      .map((block) => (block.type === "text" ? block.text : `[${block.mediaType}]`))
      .join("\n");
    return text.trim() === "" ? [] : safeText(text).trimEnd().replaceAll("\t", "  ").split("\n");
  }

  #paint(line: string): string {
    return this.#result?.state === "error" ? this.#theme.bad(line) : this.#theme.dim(line);
  }

  #diffLine({ sign, text }: DiffLine): string {
    const { added, removed, dim } = this.#theme;
    const paint = sign === "+" ? added : sign === "-" ? removed : dim;
    return paint(`${sign} ${safeText(text).replaceAll("\t", "  ")}`);
  }
}

/** Change of a file. */
interface FileChange {
  readonly path: string;
  readonly before: string;
  readonly after: string;
}

/** Recognises the tools that change files by their inputs: a text that replaces another, or a whole new content. */
function changeOf(name: string, input: JsonValue): FileChange | null {
  if (!isRecord(input)) return null;
  const fields = input as Readonly<Record<string, unknown>>;
  const { path, old_string: before, new_string: after, content } = fields;
  if (typeof path !== "string") return null;
  if (typeof before === "string" && typeof after === "string") return { path, before, after };
  return name === "write_file" && typeof content === "string"
    ? { path, before: "", after: content }
    : null;
}

/** Leaves out unchanged lines that are far from a change. */
function around(lines: readonly DiffLine[]): readonly DiffLine[] {
  const near = (at: number): boolean =>
    lines
      .slice(Math.max(0, at - CONTEXT_ROWS), at + CONTEXT_ROWS + 1)
      .some(({ sign }) => sign !== " ");
  return lines.filter((_, index) => near(index));
}

function progressText(progress: JsonValue): string {
  if (typeof progress === "string") return safeLine(progress);
  return safeLine(briefInput({ name: "", input: progress }));
}
