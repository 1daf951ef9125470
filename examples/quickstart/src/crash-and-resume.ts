import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { News, ShownMessage } from "./reporter.js";
import type { Stage } from "./stage.js";
import { chapter, line } from "./terminal.js";

const program = fileURLToPath(new URL("./reporter-process.js", import.meta.url));

/** A process dies by kill -9 in the middle of a call; another one goes on with the conversation. */
export async function crashAndResume(stage: Stage): Promise<void> {
  chapter("2. kill -9 in the middle of a call");
  const first = await start(stage, "stuck", "Write the report of the quarter.");
  await first.until("writing");
  first.child.kill("SIGKILL");
  const [, signal] = await first.exit;
  line(first.name, `is gone (${String(signal)})`);

  const second = await start(stage, "free", "Are you still there? Please go on.");
  const [code] = await second.exit;
  if (code !== 0) throw new Error(`${second.name} ended with ${String(code)}`);

  chapter("3. What the model of the second process was shown first");
  for (const { role, text } of second.shown) line(role, text);
}

interface Reporter {
  readonly child: ChildProcess;
  readonly name: string;
  readonly shown: readonly ShownMessage[];
  readonly exit: Promise<unknown[]>;
  /** Resolves when news of this type came; rejects when the process ends without. */
  until(type: News["type"]): Promise<void>;
}

async function start(stage: Stage, mode: "stuck" | "free", request: string): Promise<Reporter> {
  const child = fork(program, [stage.workspace, stage.session("report"), mode, request]);
  const exit = once(child, "exit");
  const name = `process ${child.pid}`;
  const shown: ShownMessage[] = [];
  const seen = new Set<News["type"]>();
  line(name, `started, persistence "step"`);
  line("carol", `> ${request}`);
  child.on("message", (message) => {
    const news = message as News;
    if (news.type === "progress") line(name, news.text);
    if (news.type === "shown") shown.push(...news.messages);
    if (news.type === "reply") line("carol", `< ${news.text}`);
    seen.add(news.type);
    child.emit("news");
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
      while (!seen.has(type)) await Promise.race([once(child, "news"), ended]);
    },
  };
}
