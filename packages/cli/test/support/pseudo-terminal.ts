import { stripVTControlCharacters } from "node:util";
import { type IPty, spawn } from "@lydell/node-pty";
import { main, plainEnvironment } from "./command.js";

/** Longest wait for something to appear, on a busy machine. */
const TIMEOUT_MS = 180_000;

/** Options of {@link PseudoTerminal}. */
export interface PseudoTerminalOptions {
  readonly cwd: string;
  readonly env?: Record<string, string>;
  /** From a shell that has job control and prompts with `shell>`. */
  readonly inShell?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  /** Another command than `holdfast`. */
  readonly program?: string;
  /** Receives what is written. */
  onData?(data: string): void;
}

/** A command at a terminal of its own. */
export class PseudoTerminal implements AsyncDisposable {
  readonly exited: Promise<number>;
  readonly #pty: IPty & { destroy(): void };
  readonly #watchers = new Set<() => void>();
  #raw = "";
  #hasExited = false;
  /** Position from which the next wait searches. */
  #seen = 0;

  constructor(args: readonly string[], options: PseudoTerminalOptions) {
    const command = [process.execPath, options.program ?? main, ...args];
    const quoted = command.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
    const shell = ["bash", "--norc", "--noprofile", "-i"];
    const [program = "", ...rest] = options.inShell ? shell : command;
    this.#pty = spawn(program, rest, {
      cwd: options.cwd,
      env: plainEnvironment({ PS1: "shell> ", ...options.env }),
      cols: options.columns ?? 120,
      rows: options.rows ?? 40,
    }) as IPty & { destroy(): void };
    this.#pty.onData((data) => {
      this.#raw += data;
      options.onData?.(data);
      this.look();
    });
    if (options.inShell) this.enter(quoted);
    this.exited = new Promise((resolve) => {
      this.#pty.onExit(({ exitCode, signal }) => {
        this.#hasExited = true;
        this.look();
        resolve(signal ? 128 + signal : exitCode);
      });
    });
  }

  /** Everything that was written, escape sequences included. */
  get raw(): string {
    return this.#raw;
  }

  /** Text without escape sequences. */
  get text(): string {
    return stripVTControlCharacters(this.#raw).replaceAll("\r", "");
  }

  /** Waits until a text appears behind the one that was waited for last. */
  async shows(wanted: string): Promise<void> {
    await this.until(
      wanted,
      () => this.text.includes(wanted, this.#seen),
      () => this.text,
    );
    this.#seen = this.text.indexOf(wanted, this.#seen) + wanted.length;
  }

  /** Waits until something is so. @param what - names it in the error @param shown - what the terminal shows instead */
  async until(what: string, isSo: () => boolean, shown: () => string): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const stop = (): void => {
        clearTimeout(timer);
        this.#watchers.delete(look);
      };
      const fail = (why: string): void => {
        stop();
        reject(new Error(`${JSON.stringify(what)} ${why}; the terminal shows:\n${shown()}`));
      };
      const look = (): void => {
        if (isSo()) {
          stop();
          resolve();
        } else if (this.#hasExited) fail("never came, the command has ended");
      };
      const timer = setTimeout(() => fail(`did not appear in ${TIMEOUT_MS} ms`), TIMEOUT_MS);
      this.#watchers.add(look);
      look();
    });
  }

  /** Looks whether what is waited for is there. */
  look(): void {
    for (const look of this.#watchers) look();
  }

  /** Changes the size of the window. */
  resize(columns: number, rows: number): void {
    this.#pty.resize(columns, rows);
  }

  /** Presses keys. */
  type(keys: string): void {
    this.#pty.write(keys);
  }

  /** Types a line and presses Enter. */
  enter(line: string): void {
    this.type(`${line}\r`);
  }

  /** Closes the terminal's window. */
  hangUp(): void {
    this.#pty.destroy();
  }

  kill(signal: NodeJS.Signals): void {
    this.#pty.kill(signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#hasExited) this.kill("SIGKILL");
    await this.exited;
  }
}

/** Keys as a terminal sends them. */
export const CTRL_A = "\u0001";
export const CTRL_C = "\u0003";
export const CTRL_D = "\u0004";
export const CTRL_E = "\u0005";
export const CTRL_Z = "\u001a";
