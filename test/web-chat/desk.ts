import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { eventually } from "@holdfast/testing";

const program = fileURLToPath(new URL("../../examples/web-chat/dist/main.js", import.meta.url));

/** The example as a person starts it: a front door and two processes behind it. */
export interface Desk {
  readonly url: string;
  /** Ids of the two processes that answer. */
  pids(): Promise<readonly number[]>;
  stop(): Promise<void>;
}

/**
 * Starts the example on a free port.
 *
 * @param args - of the command, besides `--port`
 * @param paceMs - pause before each piece of a reply
 */
export async function startDesk(args: readonly string[], paceMs: number): Promise<Desk> {
  const { VITEST: _, ...env } = process.env;
  const child = spawn(process.execPath, [program, "--port", "0", ...args], {
    env: { ...env, DESK_PACE_MS: String(paceMs) },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await Promise.race([
    once(createInterface({ input: child.stdout }), "line"),
    once(child, "exit").then(([code]) => {
      throw new Error(`the example ended with ${code} before it was up`);
    }),
  ])) as [string];
  const url = /http:\S+/.exec(line)?.[0];
  if (url === undefined) throw new Error(`the example printed no address: ${line}`);
  return {
    url,
    pids: () => eventually(() => servingPids(url)),
    async stop() {
      const exit = once(child, "exit");
      child.kill("SIGTERM");
      await exit;
    },
  };
}

/**
 * Returns the processes that two requests came to.
 *
 * @throws when it was one, because others asked in between
 */
async function servingPids(url: string): Promise<readonly number[]> {
  const pids = new Set<number>();
  for (let asked = 0; asked < 2; asked++) {
    const { headers } = await fetch(`${url}/api/chat`);
    pids.add(Number(headers.get("x-served-by")));
  }
  if (pids.size < 2) throw new Error("both requests came to the same process");
  return [...pids];
}
