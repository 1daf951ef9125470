import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Directories } from "./directories.js";
import { heading, line } from "./print.js";
import type { ReporterMessage, ShownMessage } from "./reporter.js";

const program = fileURLToPath(new URL("./reporter-process.js", import.meta.url));

/** Kills a process with SIGKILL in the middle of a call; another one finds the session and finishes the run. */
export async function crashAndResume(directories: Directories): Promise<void> {
  heading("2. kill -9 in the middle of a call");
  const first = await start(directories, "Write the report of the quarter.");
  await first.until("writing");
  first.child.kill("SIGKILL");
  const [, signal] = await first.exit;
  line(first.name, `is gone (${String(signal)})`);

  // Nobody says anything again: the session has what carol asked for.
  const second = await start(directories);
  const [code] = await second.exit;
  if (code !== 0) throw new Error(`${second.name} ended with ${String(code)}`);

  heading("3. What the model of the second process was shown first");
  for (const { role, text } of second.shown) line(role, text);
}

interface Reporter {
  readonly child: ChildProcess;
  readonly name: string;
  readonly shown: readonly ShownMessage[];
  readonly exit: Promise<unknown[]>;
  /** Resolves when a message of this type has arrived; rejects when the process ends before. */
  until(type: ReporterMessage["type"]): Promise<void>;
}

/** Starts a process that serves a request, or one that finishes what others have left. */
async function start(directories: Directories, request?: string): Promise<Reporter> {
  const { workspace } = directories;
  const call = request === undefined ? [] : [directories.session("report"), request];
  const child = fork(program, [workspace, ...call]);
  const exit = once(child, "exit");
  const name = `process ${child.pid}`;
  const shown: ShownMessage[] = [];
  const seen = new Set<ReporterMessage["type"]>();
  line(name, `started, persistence "step"`);
  if (request !== undefined) line("carol", `> ${request}`);
  child.on("message", (message) => {
    const received = message as ReporterMessage;
    if (received.type === "progress") line(name, received.text);
    if (received.type === "shown") shown.push(...received.messages);
    if (received.type === "reply") line("carol", `< ${received.text}`);
    seen.add(received.type);
    child.emit("received");
  });
  return {
    child,
    name,
    shown,
    exit,
    async until(type) {
      const ended = exit.then(([code]) => {
        throw new Error(`${name} ended with ${String(code)} before "${type}"`);
      });
      while (!seen.has(type)) await Promise.race([once(child, "received"), ended]);
    },
  };
}
