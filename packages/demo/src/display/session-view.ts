import { cutIndex } from "@holdfast/core/plugin-kit";
import type { DemoTerminal } from "../demo-terminal.js";
import type { NotableEvent } from "../session/notable-event.js";
import type { SessionObserver, TurnRecord } from "../session/run-session.js";
import { formatNumber } from "./format.js";
import type { Glyphs } from "./glyphs.js";

/** Shows a session while it runs. */
export interface SessionView extends SessionObserver {
  /** Erases the part of the display that is only meant to be seen while the session runs. */
  stop(): void;
}

/** Turns between two lines outside of a terminal. */
const TURNS_PER_LINE = 20;
/** Columns of the progress bar; the sparkline has twice as many. */
const BAR_COLUMNS = 24;

/** Creates a view: a redrawn block in a terminal, plain lines elsewhere, nothing for JSON output. */
export function sessionView(terminal: DemoTerminal, turns: number, glyphs: Glyphs): SessionView {
  if (terminal.isJson) return { onAsk() {}, onAnswer() {}, onNotable() {}, stop() {} };
  return terminal.isInteractive
    ? new LiveView(terminal, turns, glyphs)
    : new PlainView(terminal, turns);
}

class PlainView implements SessionView {
  readonly #terminal: DemoTerminal;
  readonly #turns: number;

  constructor(terminal: DemoTerminal, turns: number) {
    this.#terminal = terminal;
    this.#turns = turns;
  }

  onAsk(): void {}

  onAnswer({ turn, tokens }: TurnRecord): void {
    if (turn % TURNS_PER_LINE === 0 || turn === this.#turns)
      this.#terminal.line(
        `  turn ${pad(turn)}  ${formatNumber(tokens).padStart(9)} tokens in the request`,
      );
  }

  onNotable(event: NotableEvent): void {
    this.#terminal.line(eventLine(event, this.#terminal));
  }

  stop(): void {}
}

class LiveView implements SessionView {
  readonly #terminal: DemoTerminal;
  readonly #turns: number;
  readonly #glyphs: Glyphs;
  readonly #block: StatusBlock;
  readonly #sizes: number[] = [];
  #turn = 0;
  #says = "";
  #answer = "";
  #pid = 0;

  constructor(terminal: DemoTerminal, turns: number, glyphs: Glyphs) {
    this.#terminal = terminal;
    this.#turns = turns;
    this.#glyphs = glyphs;
    this.#block = new StatusBlock(terminal);
  }

  onAsk(turn: number, says: string): void {
    this.#turn = turn;
    this.#says = this.#terminal.safeLine(says);
    this.#draw();
  }

  onAnswer(record: TurnRecord, pid: number): void {
    this.#pid = pid;
    this.#sizes.push(record.tokens);
    this.#answer = this.#terminal.safeLine(record.answer);
    this.#draw();
  }

  onNotable(event: NotableEvent): void {
    this.#block.printAbove(eventLine(event, this.#terminal));
  }

  stop(): void {
    this.#block.clear();
  }

  #draw(): void {
    const { full, empty } = this.#glyphs;
    const done = Math.round((this.#turn / this.#turns) * BAR_COLUMNS);
    const bar = full.repeat(done) + empty.repeat(BAR_COLUMNS - done);
    const size = formatNumber(this.#sizes.at(-1) ?? 0);
    this.#block.show([
      "",
      `  turn ${pad(this.#turn)}/${this.#turns} ${bar}  process ${this.#pid || ""}`,
      `  request ${size.padStart(7)} tokens ${this.#sparkline()}`,
      `  > ${this.#says}`,
      `  < ${this.#answer}`,
    ]);
  }

  #sparkline(): string {
    const { levels } = this.#glyphs;
    if (levels === "") return "";
    const shown = this.#sizes.slice(-2 * BAR_COLUMNS);
    const most = Math.max(1, ...this.#sizes);
    return shown
      .map((size) => levels[Math.min(levels.length - 1, Math.floor((size / most) * levels.length))])
      .join("");
  }
}

/** Lines at the bottom of a terminal that are redrawn; other lines are printed above them. */
class StatusBlock {
  readonly #terminal: DemoTerminal;
  #lines: readonly string[] = [];

  constructor(terminal: DemoTerminal) {
    this.#terminal = terminal;
  }

  /** Replaces the block. */
  show(lines: readonly string[]): void {
    const erase = this.#eraseSequence();
    // A line that wraps takes two rows, and erasing would miss one of them.
    const width = Math.max(1, this.#terminal.columns - 1);
    this.#lines = lines.map((line) => line.slice(0, cutIndex(line, width)));
    this.#terminal.out.write(`${erase}${this.#text()}`);
  }

  /** Prints a permanent line above the block. */
  printAbove(line: string): void {
    this.#terminal.out.write(`${this.#eraseSequence()}${line}\n${this.#text()}`);
  }

  /** Removes the block. */
  clear(): void {
    this.#terminal.out.write(this.#eraseSequence());
    this.#lines = [];
  }

  #text(): string {
    return this.#lines.map((line) => `${line}\n`).join("");
  }

  #eraseSequence(): string {
    return this.#lines.length === 0 ? "" : `\u001b[${this.#lines.length}A\r\u001b[J`;
  }
}

function eventLine({ turn, kind, text }: NotableEvent, terminal: DemoTerminal): string {
  const { colors } = terminal;
  const paint =
    kind === "killed" || kind === "failed"
      ? colors.red
      : kind === "resumed" || kind === "found"
        ? colors.green
        : colors.cyan;
  return `  turn ${pad(turn)}  ${paint(kind.padEnd(10))} ${terminal.safeLine(text)}`;
}

function pad(turn: number): string {
  return String(turn).padStart(3);
}
