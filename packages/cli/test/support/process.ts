import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { main, plainEnvironment } from "./command.js";

/** Options of a process. */
export interface ProcessOptions {
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Written to stdin, which is then closed; undefined leaves it open. */
  readonly input?: string | undefined;
}

/** The command in a process of its own, with pipes. */
export class CommandProcess implements AsyncDisposable {
  readonly child: ChildProcessWithoutNullStreams;
  readonly ended: Promise<number | null>;
  stdout = "";
  stderr = "";

  constructor(args: readonly string[], { cwd, env, input }: ProcessOptions = {}) {
    this.child = spawn(process.execPath, [main, ...args], { cwd, env: plainEnvironment(env) });
    this.child.stdout.setEncoding("utf8").on("data", (text: string) => {
      this.stdout += text;
    });
    this.child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.stderr += text;
    });
    this.child.stdin.on("error", () => undefined);
    if (input !== undefined) this.child.stdin.end(input);
    this.ended = once(this.child, "close").then(([code]) => code as number | null);
  }

  /** Waits until stdout or stderr holds a text. */
  async says(text: string, stream: "stdout" | "stderr" = "stdout"): Promise<void> {
    while (!this[stream].includes(text)) {
      const data = once(this.child[stream], "data");
      const ended = this.ended.then((code) => {
        throw new Error(`ended with ${code} without ${JSON.stringify(text)}: ${this.stderr}`);
      });
      await Promise.race([data, ended]);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child.kill("SIGKILL");
    await this.ended;
  }
}

/** Runs a command to its end. */
export async function runProcess(
  args: readonly string[],
  options: ProcessOptions = {},
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  await using command = new CommandProcess(args, { input: "", ...options });
  const code = await command.ended;
  return { code, stdout: command.stdout, stderr: command.stderr };
}
