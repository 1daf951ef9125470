import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { eventually } from "./eventually.js";

/** Options of {@link spawnScript}. */
export interface SpawnScriptOptions {
  /** Added to this process's environment; undefined removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** @default this process's */
  readonly cwd?: string | undefined;
}

/** Exit code or signal of a script that ended. */
export interface ScriptExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A script that runs in a process of its own. */
export interface SpawnedScript extends AsyncDisposable {
  readonly pid: number;
  /** The lines it wrote to stdout so far. */
  readonly lines: readonly string[];
  /** Its output on stderr so far. */
  readonly stderr: string;
  /** Resolves when it ended and all it wrote was read. */
  readonly exited: Promise<ScriptExit>;
  /** Waits for a line, by its text or a test; rejects when the script ends without it. */
  line(wanted: string | ((line: string) => boolean), timeoutMs?: number): Promise<string>;
  /** Sends a line to its stdin. */
  send(line: string): void;
  /** Kills it as `kill -9` does, so that nothing of it runs any more, and waits for its end. */
  kill9(): Promise<ScriptExit>;
}

/**
 * Runs a module in a Node process of its own, to be killed at a chosen moment.
 *
 * @param script - a file (URL or path), or the source of an ES module (a string with a line break; it resolves packages from `cwd`)
 * @example
 * await using writer = spawnScript(new URL("./writer.mjs", import.meta.url), [directory.path]);
 * await writer.line("saved 100");
 * await writer.kill9();
 */
export function spawnScript(
  script: URL | string,
  args: readonly string[] = [],
  options: SpawnScriptOptions = {},
): SpawnedScript {
  const isSource = typeof script === "string" && script.includes("\n");
  const program = isSource
    ? ["--input-type=module", "--eval", script, "--"]
    : [script instanceof URL ? fileURLToPath(script) : script];
  const child = spawn(process.execPath, [...program, ...args], {
    cwd: options.cwd,
    env: childEnvironment(options.env),
    stdio: ["pipe", "pipe", "pipe"],
  });
  return new NodeScript(child);
}

// A script is a plain program: libraries that ask VITEST should not take it for a test.
function childEnvironment(env: SpawnScriptOptions["env"]): NodeJS.ProcessEnv {
  const plain = Object.entries(process.env).filter(([name]) => !name.startsWith("VITEST"));
  return { ...Object.fromEntries(plain), ...env };
}

class NodeScript implements SpawnedScript {
  readonly lines: string[] = [];
  readonly exited: Promise<ScriptExit>;
  readonly #child: ChildProcess;
  #stderr = "";
  #exit: ScriptExit | undefined;

  constructor(child: ChildProcess) {
    this.#child = child;
    if (child.stdout !== null)
      createInterface({ input: child.stdout }).on("line", (line) => this.lines.push(line));
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr += text;
    });
    // A write to a script that was just killed must not fail the test.
    child.stdin?.on("error", () => {});
    this.exited = once(child, "close").then(([code, signal]) => {
      this.#exit = { code, signal };
      return this.#exit;
    });
    // A failed start must not be an unhandled rejection in a test that does not await `exited`; `line` and `kill9` report it.
    this.exited.catch(() => {});
  }

  get pid(): number {
    return this.#child.pid ?? -1;
  }

  get stderr(): string {
    return this.#stderr;
  }

  async line(wanted: string | ((line: string) => boolean), timeoutMs = 120_000): Promise<string> {
    const matches = typeof wanted === "string" ? (line: string) => line === wanted : wanted;
    const what = `a line ${typeof wanted === "string" ? JSON.stringify(wanted) : "of the script"}`;
    const found = await eventually(
      () => {
        const ended = this.#exit;
        const line = this.lines.find(matches);
        return line === undefined ? ended && { ended } : { line };
      },
      { timeoutMs, what },
    );
    if (found !== undefined && "line" in found) return found.line;
    const message = `the script ended without ${what}; stderr: ${this.#stderr}`;
    throw new assert.AssertionError({ message });
  }

  send(line: string): void {
    this.#child.stdin?.write(`${line}\n`);
  }

  async kill9(): Promise<ScriptExit> {
    this.#child.kill("SIGKILL");
    return this.exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#exit === undefined) await this.kill9();
  }
}
