import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryRoot } from "./temporary-root.js";

/**
 * Refuses to go on without strace: it is the only way to stop a process at a given system call, or to make one fail.
 * `npm test` at the root installs it where it may.
 */
export function needStrace(): void {
  if (spawnSync("strace", ["--version"]).status !== 0)
    throw new Error("these tests need strace: install it (apt-get install strace) and run again");
}

/** Arguments of a strace that kills the process as it enters the `count`th call of `syscall`. */
export function killingAt(syscall: string, count: number): string[] {
  return injecting([syscall], [`${syscall}:signal=SIGKILL:when=${count}`]);
}

/** Which calls fail and how; `when` is `3` for the third one, `3+` for all from then on; `path`: only on this file. */
export type Failure = readonly [syscall: string, error: string, when: string, path?: string];

/** Arguments of a strace that lets calls fail. */
export function failing(...failures: readonly Failure[]): string[] {
  const paths = failures.flatMap(([, , , path]) => (path === undefined ? [] : ["-P", path]));
  const rules = failures.map(([name, error, when]) => `${name}:error=${error}:when=${when}`);
  return [
    ...injecting(
      failures.map(([name]) => name),
      rules,
    ),
    ...paths,
  ];
}

/** How often each thread makes each call while `run` runs with the wrapper given; the largest count of each. */
export async function countCalls(
  syscalls: readonly string[],
  run: (wrapper: readonly string[]) => Promise<unknown>,
): Promise<Map<string, number>> {
  const output = join(temporaryRoot(), "trace");
  await run([
    "strace",
    "-f",
    "-qq",
    "--seccomp-bpf",
    "-o",
    output,
    "-e",
    `trace=${syscalls.join()}`,
  ]);
  const counts = new Map<string, number>();
  const largest = new Map<string, number>(syscalls.map((name) => [name, 0]));
  for (const line of readFileSync(output, "utf8").split("\n")) {
    const [, thread, name] = /^(\d+) +(\w+)\(/.exec(line) ?? [];
    if (thread === undefined || name === undefined) continue;
    const count = (counts.get(`${thread} ${name}`) ?? 0) + 1;
    counts.set(`${thread} ${name}`, count);
    largest.set(name, Math.max(count, largest.get(name) ?? 0));
  }
  return largest;
}

/** `1..last`, or about `most` of them spread over the range. */
export function spread(last: number, most: number): number[] {
  if (last <= most) return Array.from({ length: last }, (_, index) => index + 1);
  if (most === 1) return [Math.ceil(last / 2)];
  const step = (last - 1) / (most - 1);
  return Array.from({ length: most }, (_, index) => 1 + Math.round(index * step));
}

function injecting(syscalls: readonly string[], rules: readonly string[]): string[] {
  // Without --seccomp-bpf: strace 6.1 then injects nothing.
  const options = ["-f", "-qq", "-o", "/dev/null", "-e", `trace=${syscalls.join()}`];
  return ["strace", ...options, ...rules.flatMap((rule) => ["-e", `inject=${rule}`])];
}
