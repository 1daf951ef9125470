import xterm from "@xterm/headless";
import { PseudoTerminal, type PseudoTerminalOptions } from "./pseudo-terminal.js";

/** The command at a terminal whose screen can be read as text. */
export class ScreenTerminal implements AsyncDisposable {
  readonly exited: Promise<number>;
  readonly #terminal: PseudoTerminal;
  readonly #screen: xterm.Terminal;

  constructor(args: readonly string[], options: Omit<PseudoTerminalOptions, "onData">) {
    const { columns = 100, rows = 40 } = options;
    const screen = new xterm.Terminal({
      cols: columns,
      rows,
      allowProposedApi: true,
      scrollback: 5_000,
    });
    this.#screen = screen;
    this.#terminal = new PseudoTerminal(args, {
      ...options,
      columns,
      rows,
      onData: (data) => screen.write(data, () => this.#terminal.look()),
    });
    // What was written last is on the screen before the end is noticed.
    this.exited = this.#terminal.exited.then(
      (code) => new Promise((resolve) => screen.write("", () => resolve(code))),
    );
  }

  /** Everything that was written, escape sequences included. */
  get raw(): string {
    return this.#terminal.raw;
  }

  /** Lines that the window shows. */
  get lines(): readonly string[] {
    return this.#linesFrom(this.#screen.buffer.active.viewportY);
  }

  /** What the window shows. */
  get text(): string {
    return this.lines.join("\n");
  }

  /** What the window shows, with what was scrolled out of it. */
  get all(): string {
    return this.#linesFrom(0).join("\n");
  }

  #linesFrom(first: number): readonly string[] {
    const { active } = this.#screen.buffer;
    return Array.from({ length: active.length - first }, (_, row) =>
      (active.getLine(first + row)?.translateToString(true) ?? "").trimEnd(),
    );
  }

  /** Waits until the screen holds a text, scrolled out or not. */
  shows(wanted: string | RegExp): Promise<void> {
    return this.until(String(wanted), () =>
      typeof wanted === "string" ? this.all.includes(wanted) : wanted.test(this.all),
    );
  }

  /** Waits until the window no longer holds a text. */
  hides(text: string): Promise<void> {
    return this.until(`no ${text}`, () => !this.text.includes(text));
  }

  /** Waits until the screen is as wanted. @param what - names it in the error */
  until(what: string, isSo: () => boolean): Promise<void> {
    return this.#terminal.until(what, isSo, () => this.all.trim());
  }

  /** Presses keys. */
  type(keys: string): void {
    this.#terminal.type(keys);
  }

  /** Types a line and presses Enter. */
  enter(line: string): void {
    this.#terminal.enter(line);
  }

  /** Waits until nothing runs: a reply is on the screen before its call has ended. */
  idle(): Promise<void> {
    return this.until("an end of the call", () => !/Esc interrupts\n─/u.test(this.text));
  }

  /** Enters a line when nothing runs, so that it is a turn or a command of its own. */
  async say(line: string): Promise<void> {
    await this.idle();
    this.enter(line);
  }

  /** Pastes a text, as terminals with bracketed paste do. */
  paste(text: string): void {
    this.type(`\u001b[200~${text}\u001b[201~`);
  }

  /** Changes the size of the window. */
  resize(columns: number, rows: number): void {
    this.#screen.resize(columns, rows);
    this.#terminal.resize(columns, rows);
  }

  kill(signal: NodeJS.Signals): void {
    this.#terminal.kill(signal);
  }

  /** Closes the terminal's window. */
  hangUp(): void {
    this.#terminal.hangUp();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#terminal[Symbol.asyncDispose]();
  }
}
