import {
  clearScreenDown,
  createInterface,
  cursorTo,
  type Interface,
  moveCursor,
} from "node:readline";
import { Writable } from "node:stream";
import type { Terminal } from "../../terminal/terminal.js";
import { commandNames } from "../commands/slash-commands.js";

/** Callbacks of a prompt. */
export interface PromptEvents {
  onLine(line: string): void;
  onCtrlC(): void;
  onEscape(): void;
  /** Ctrl-D, or the end of the input. */
  onClose(): void;
  /** The terminal was closed. */
  onGone(): void;
}

/** Pressed key, as readline names it. */
interface Key {
  readonly name?: string;
}

/** Open question in place of the prompt. */
interface OpenQuestion {
  /** Text that was typed before the question came. */
  readonly typed: string;
  resolve(answer: string | null): void;
}

/** Editable line at the bottom of a terminal, with output above it. */
export class PromptLine {
  readonly #terminal: Terminal;
  readonly #output: PromptOutput;
  readonly #lines: Interface;
  /** The terminal has no cursor movement. */
  readonly #isDumb: boolean;
  readonly #onKey: (_: unknown, key: Key | undefined) => void;
  #isPasting = false;
  #question: OpenQuestion | null = null;
  /** Lines that were sent, newest first; answers to questions are not among them. */
  #history: readonly string[] = [];

  constructor(terminal: Terminal, events: PromptEvents) {
    this.#terminal = terminal;
    this.#isDumb = terminal.env["TERM"] === "dumb";
    this.#output = new PromptOutput(terminal.out);
    this.#lines = createInterface({
      input: terminal.in,
      output: this.#output,
      terminal: true,
      prompt: this.#promptOf(""),
      historySize: 500,
      removeHistoryDuplicates: true,
      completer: (line: string) => [
        this.#question ? [] : commandNames.filter((name) => name.startsWith(line)),
        line,
      ],
    });
    this.#lines.on("line", (line) => events.onLine(line));
    this.#lines.on("SIGINT", () => events.onCtrlC());
    this.#lines.on("history", (history: string[]) => this.#keepHistory(history));
    this.#lines.on("SIGCONT", () => this.#wake());
    // The modes of a closed terminal cannot be restored; the running call is still saved.
    this.#lines.on("error", () => events.onGone());
    this.#lines.on("close", () => events.onClose());
    this.#onKey = (_, key) => {
      this.#noticePaste(key);
      if (key?.name === "escape") events.onEscape();
    };
    terminal.in.on("keypress", this.#onKey);
  }

  /** The current input is part of a paste. */
  get isPasting(): boolean {
    return this.#isPasting;
  }

  /** Text that is typed and not sent. */
  get typed(): string {
    return this.#lines.line;
  }

  /** Turns on bracketed paste; {@link show} shows the prompt. */
  open(): void {
    this.#announcePastes(true);
    this.hide();
  }

  /** Stops echoing keys, so that they do not appear in the middle of a reply. */
  hide(): void {
    this.#output.isQuiet = true;
  }

  /** Shows the prompt again, with the text typed meanwhile. */
  show(): void {
    this.#output.isQuiet = false;
    this.#redraw();
  }

  /** A question is open. */
  get isAsking(): boolean {
    return this.#question !== null;
  }

  /**
   * Asks for a line in place of the prompt, with `text` to be edited, or above it where the terminal cannot show that.
   * {@link answer} and {@link cancel} end the question; what was typed before it comes back with the prompt.
   */
  ask(question: string, text = ""): Promise<string | null> {
    return new Promise((resolve) => {
      this.#question = { typed: this.#lines.line, resolve };
      this.#lines.setPrompt(this.#promptOf(question));
      if (this.#isDumb && text !== "") this.#terminal.line(text);
      this.#setLine(this.#isDumb ? "" : text);
      this.show();
    });
  }

  /** Answers the open question. @returns whether there was one */
  answer(text: string | null): boolean {
    const question = this.#question;
    if (question === null) return false;
    this.#question = null;
    this.hide();
    this.#lines.setPrompt(this.#promptOf(""));
    this.#setLine(question.typed);
    question.resolve(text);
    return true;
  }

  /** Ends the open question without an answer. @returns whether there was one */
  cancel(): boolean {
    if (this.#question !== null) this.#terminal.line();
    return this.answer(null);
  }

  /** Runs `write`, whose output goes above the prompt. */
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

  /** Deletes the typed text. */
  clear(): void {
    if (this.#isDumb) {
      // Without cursor movement only a new line can be started.
      this.#setLine("");
      this.#terminal.line();
      this.#redraw();
      return;
    }
    // To the end of the line, then delete to its start.
    this.#lines.write(null, { ctrl: true, name: "e" });
    this.#lines.write(null, { ctrl: true, name: "u" });
  }

  close(): void {
    this.#announcePastes(false);
    this.#terminal.in.off("keypress", this.#onKey);
    this.#lines.close();
  }

  #noticePaste(key: Key | undefined): void {
    if (key?.name === "paste-start") this.#isPasting = true;
    if (key?.name === "paste-end") this.#isPasting = false;
  }

  #promptOf(question: string): string {
    return this.#terminal.colors.bold(question === "" ? "› " : `${question} › `);
  }

  #keepHistory(history: string[]): void {
    if (this.#question) history.splice(0, history.length, ...this.#history);
    else this.#history = [...history];
  }

  #setLine(text: string): void {
    Object.assign(this.#lines, { line: text, cursor: text.length });
  }

  #redraw(): void {
    // Readline would move up by the rows of its last prompt; other output is there by now.
    Object.assign(this.#lines, { prevRows: 0 });
    this.#lines.prompt(true);
  }

  /** Restores the terminal after `fg`: the shell has changed its modes, and readline has stopped reading. */
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
 * Output of readline: its prompt and the echo of keys. It is muted while the agent replies, so that keys do not appear in
 * the middle of the reply.
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
    // At once, not when it is flushed: other output goes to the same terminal, in this order.
    done();
  }
}
