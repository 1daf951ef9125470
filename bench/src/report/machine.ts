import { execFileSync } from "node:child_process";
import { cpus, loadavg, platform, release, totalmem } from "node:os";

/** Machine of a run. */
export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly system: string;
  readonly node: string;
  readonly redis: string;
  readonly mariadb: string;
}

/** Describes this machine. */
export function thisMachine(): Machine {
  return {
    processor: cpus()[0]?.model.trim() ?? "unknown",
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    // What a distribution or a cloud appends to the version tells readers nothing.
    system: `${platform()} ${/^\d+(\.\d+)*/.exec(release())?.[0] ?? release()}`,
    node: process.version,
    redis: versionOf("redis-server"),
    mariadb: versionOf("mariadbd"),
  };
}

/** Programs that ran or waited to run, on average over the last minute; more than there are cores is a busy machine. */
export function load(): number {
  return loadavg()[0] ?? 0;
}

function versionOf(program: string): string {
  // Debian keeps servers where only root looks for programs.
  const env = { ...process.env, PATH: `${process.env["PATH"]}:/usr/local/sbin:/usr/sbin` };
  try {
    const text = execFileSync(program, ["--version"], { env, encoding: "utf8" });
    return /\d+\.\d+\.\d+/.exec(text)?.[0] ?? text.trim();
  } catch {
    return "not installed";
  }
}
