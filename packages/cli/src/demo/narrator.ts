import { safeLine } from "../terminal/safe-text.js";
import type { Terminal } from "../terminal/terminal.js";
import { figure } from "./figure.js";
import type { Glyphs } from "./glyphs.js";
import type { Happening } from "./happening.js";
import type { Audience } from "./play-session.js";
import type { TurnRecord } from "./session-record.js";
import { StatusBlock } from "./status-block.js";

/** Shows a session while it is played. */
export interface Narrator extends Audience {
  /** Takes away what is only there while it plays. */
  stop(): void;
}

/** Turns between two lines where there is no terminal. */
const EVERY = 20;
/** Columns of the bar and of the small plot. */
const BAR = 24;

/** A block that is drawn again in a terminal, plain lines elsewhere, nothing with `--json`. */
export function narrator(terminal: Terminal, turns: number, glyphs: Glyphs): Narrator {
  if (terminal.isJson) return { asked() {}, answered() {}, happened() {}, stop() {} };
  return terminal.isInteractive
    ? new LiveNarrator(terminal, turns, glyphs)
    : new PlainNarrator(terminal, turns);
}

class PlainNarrator implements Narrator {
  readonly #terminal: Terminal;
  readonly #turns: number;

  constructor(terminal: Terminal, turns: number) {
    this.#terminal = terminal;
    this.#turns = turns;
  }

  asked(): void {}

  answered({ turn, tokens }: TurnRecord): void {
    if (turn % EVERY === 0 || turn === this.#turns)
      this.#terminal.line(
        `  turn ${pad(turn)}  ${figure(tokens).padStart(9)} tokens in the request`,
      );
  }

  happened(happening: Happening): void {
    this.#terminal.line(happeningLine(happening, this.#terminal));
  }

  stop(): void {}
}

class LiveNarrator implements Narrator {
  readonly #terminal: Terminal;
  readonly #turns: number;
  readonly #glyphs: Glyphs;
  readonly #block: StatusBlock;
  readonly #sizes: number[] = [];
  #turn = 0;
  #says = "";
  #answer = "";
  #pid = 0;

  constructor(terminal: Terminal, turns: number, glyphs: Glyphs) {
    this.#terminal = terminal;
    this.#turns = turns;
    this.#glyphs = glyphs;
    this.#block = new StatusBlock(terminal);
  }

  asked(turn: number, says: string): void {
    this.#turn = turn;
    this.#says = safeLine(says);
    this.#draw();
  }

  answered(record: TurnRecord, pid: number): void {
    this.#pid = pid;
    this.#sizes.push(record.tokens);
    this.#answer = safeLine(record.answer);
    this.#draw();
  }

  happened(happening: Happening): void {
    this.#block.above(happeningLine(happening, this.#terminal));
  }

  stop(): void {
    this.#block.clear();
  }

  #draw(): void {
    const { full, empty } = this.#glyphs;
    const done = Math.round((this.#turn / this.#turns) * BAR);
    const bar = full.repeat(done) + empty.repeat(BAR - done);
    const size = figure(this.#sizes.at(-1) ?? 0);
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
    const shown = this.#sizes.slice(-2 * BAR);
    const most = Math.max(1, ...this.#sizes);
    return shown
      .map((size) => levels[Math.min(levels.length - 1, Math.floor((size / most) * levels.length))])
      .join("");
  }
}

/** What happened, in one line. */
function happeningLine({ turn, kind, text }: Happening, { colors }: Terminal): string {
  const paint =
    kind === "killed" || kind === "failed"
      ? colors.red
      : kind === "resumed" || kind === "found"
        ? colors.green
        : colors.cyan;
  return `  turn ${pad(turn)}  ${paint(kind.padEnd(10))} ${safeLine(text)}`;
}

function pad(turn: number): string {
  return String(turn).padStart(3);
}
