import {
  clearScreenDown,
  createInterface,
  cursorTo,
  type Interface,
  moveCursor,
} from "node:readline";
import { Writable } from "node:stream";
import type { Terminal } from "../terminal/terminal.js";
import { commandNames } from "./slash-commands.js";

/** What somebody at the prompt does. */
export interface PromptEvents {
  onLine(line: string): void;
  onCtrlC(): void;
  /** Ctrl-D, or the end of the input. */
  onClose(): void;
  /** The terminal is gone. */
  onGone(): void;
}

/** The line at the bottom of a terminal in which somebody writes, while others write above it. */
export class PromptLine {
  readonly #terminal: Terminal;
  readonly #output: PromptOutput;
  readonly #lines: Interface;
  /** It understands no sequences that move the cursor. */
  readonly #isDumb: boolean;
  #isPasting = false;

  constructor(terminal: Terminal, events: PromptEvents) {
    this.#terminal = terminal;
    this.#isDumb = terminal.env["TERM"] === "dumb";
    this.#output = new PromptOutput(terminal.out);
    this.#lines = createInterface({
      input: terminal.in,
      output: this.#output,
      terminal: true,
      prompt: terminal.colors.bold("› "),
      historySize: 500,
      removeHistoryDuplicates: true,
      completer: (line: string) => [commandNames.filter((name) => name.startsWith(line)), line],
    });
    this.#lines.on("line", (line) => events.onLine(line));
    this.#lines.on("SIGINT", () => events.onCtrlC());
    this.#lines.on("SIGCONT", () => this.#wake());
    // A terminal that is gone cannot be set back; what runs is saved all the same.
    this.#lines.on("error", () => events.onGone());
    this.#lines.on("close", () => events.onClose());
    terminal.in.on("keypress", this.#noticePaste);
  }

  /** Whether what comes now is part of a text that is being pasted. */
  get isPasting(): boolean {
    return this.#isPasting;
  }

  /** What is typed and not sent. */
  get typed(): string {
    return this.#lines.line;
  }

  /** Begins. Terminals that can say what was pasted do so from now on. */
  open(): void {
    this.#announcePastes(true);
    this.#lines.prompt();
  }

  /** Keys are not shown any more, so that they do not stand in the middle of what is written now. */
  hide(): void {
    this.#output.isQuiet = true;
  }

  /** The prompt, with what was typed meanwhile, below what was written. */
  show(): void {
    this.#output.isQuiet = false;
    this.#redraw();
  }

  /** Writes something above the prompt. */
  above(write: () => void): void {
    if (this.#isDumb) this.#terminal.line();
    else {
      const { out } = this.#terminal;
      moveCursor(out, 0, -this.#lines.getCursorPos().rows);
      cursorTo(out, 0);
      clearScreenDown(out);
    }
    write();
    this.#redraw();
  }

  /** Takes back what is typed. */
  clear(): void {
    if (this.#isDumb) {
      // Such a terminal is shown every key and no correction: a new line has to do.
      Object.assign(this.#lines, { line: "", cursor: 0 });
      this.#terminal.line();
      this.#redraw();
      return;
    }
    // To the end of the line, and away with what stands before it.
    this.#lines.write(null, { ctrl: true, name: "e" });
    this.#lines.write(null, { ctrl: true, name: "u" });
  }

  close(): void {
    this.#announcePastes(false);
    this.#terminal.in.off("keypress", this.#noticePaste);
    this.#lines.close();
  }

  readonly #noticePaste = (_: unknown, key: { readonly name?: string } | undefined): void => {
    if (key?.name === "paste-start") this.#isPasting = true;
    if (key?.name === "paste-end") this.#isPasting = false;
  };

  #redraw(): void {
    // Readline goes up by as many rows as it last believed the line to have; by now others have written there.
    Object.assign(this.#lines, { prevRows: 0 });
    this.#lines.prompt(true);
  }

  /** Brought back with `fg`: the shell has set the terminal to its own ways, and readline has stopped reading. */
  #wake(): void {
    this.#announcePastes(true);
    if (this.#output.isQuiet) this.#lines.resume();
    else this.#redraw();
  }

  #announcePastes(isOn: boolean): void {
    if (!this.#isDumb) this.#terminal.out.write(`\u001b[?2004${isOn ? "h" : "l"}`);
  }
}

/**
 * Where readline writes its prompt and echoes keys. While the agent speaks it is quiet: keys that are pressed meanwhile
 * would stand in the middle of the reply.
 */
class PromptOutput extends Writable {
  readonly isTTY = true;
  isQuiet = false;
  readonly #target: NodeJS.WritableStream;

  constructor(target: NodeJS.WritableStream) {
    super({ decodeStrings: false });
    this.#target = target;
    target.on("resize", () => this.emit("resize"));
  }

  get columns(): number | undefined {
    return (this.#target as { columns?: number }).columns;
  }

  override _write(chunk: string, _: BufferEncoding, done: () => void): void {
    if (!this.isQuiet) this.#target.write(chunk);
    // At once, and not when it is out: others write to the same terminal, and the order must stay.
    done();
  }
}
