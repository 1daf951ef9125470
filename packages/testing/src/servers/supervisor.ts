// Runs servers for a test, and ends with it: when the test's process is gone, however it went, stdin closes, and the
// servers and their directory go too.
import { type ChildProcess, spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { createInterface } from "node:readline";

/** A request of the test's process, one JSON text per line. */
export interface SupervisorRequest {
  readonly id: number;
  readonly program: string;
  readonly args: readonly string[];
}

/** A report to the test's process, one JSON text per line. */
export type SupervisorReport =
  | { readonly id: number; readonly pid: number }
  | { readonly id: number; readonly error: string }
  | { readonly id: number; readonly exited: true; readonly output: string };

const directory = process.argv[2];
const children = new Set<ChildProcess>();
/** Characters of a server's output to keep: enough to show why it did not start. */
const keptOutput = 4_000;

createInterface({ input: process.stdin })
  .on("line", (line) => start(JSON.parse(line) as SupervisorRequest))
  .on("close", end);
// When the test's process is gone there is no reader any more; the servers still have to go.
process.stdout.on("error", () => undefined);
// An interrupt from the terminal goes to this process as well as to the test run.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, end);

function start({ id, program, args }: SupervisorRequest): void {
  // Debian keeps servers where only root looks for programs.
  const PATH = `${process.env["PATH"]}:/usr/local/sbin:/usr/sbin`;
  const env = { ...process.env, PATH };
  const child = spawn(program, args, { cwd: directory, stdio: ["ignore", "pipe", "pipe"], env });
  let output = "";
  const keep = (text: Buffer): void => {
    output = (output + text.toString("utf8")).slice(-keptOutput);
  };
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  child.on("error", (error) => report({ id, error: error.message }));
  child.on("spawn", () => {
    children.add(child);
    report({ id, pid: child.pid ?? -1 });
  });
  child.on("close", () => {
    if (children.delete(child)) report({ id, exited: true, output });
  });
}

function report(what: SupervisorReport): void {
  process.stdout.write(`${JSON.stringify(what)}\n`);
}

async function end(): Promise<void> {
  const ends = [...children].map((child) => new Promise((resolve) => child.once("exit", resolve)));
  for (const child of children) child.kill("SIGKILL");
  await Promise.all(ends);
  if (directory !== undefined)
    rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  process.exit(0);
}
