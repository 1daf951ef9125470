import { type SpawnedScript, spawnScript } from "@holdfast/testing";
import { holdfast } from "../support/in-process.js";

/** The command as it is published. */
export const program = new URL("../../dist/main.js", import.meta.url);

/** One line of `migrate --json`. */
export interface MigrateLine {
  readonly type: "pass" | "progress" | "session" | "summary";
  readonly done?: number;
  readonly outcome?: string;
  readonly outcomes?: Readonly<Record<string, number>>;
  readonly verified?: Readonly<Record<string, number>>;
  readonly problems?: readonly { readonly outcome: string; readonly reason?: string }[];
  readonly changingSessions?: number;
}

/** Result of a run of the command. */
export interface MigrateRun {
  readonly code: number | null;
  readonly lines: readonly MigrateLine[];
  readonly summary: MigrateLine | undefined;
  readonly stderr: string;
}

function migrateArgs(from: string, to: string, args: readonly string[]): readonly string[] {
  return ["migrate", "--from", from, "--to", to, "--json", ...args];
}

/** Starts the command in a process of its own. */
export function startMigrate(from: string, to: string, ...args: readonly string[]): SpawnedScript {
  return spawnScript(program, migrateArgs(from, to, args));
}

/** Waits for the end of a process. */
export async function ended(script: SpawnedScript): Promise<MigrateRun> {
  const { code } = await script.exited;
  return runOf(code, script.lines, script.stderr);
}

/** Runs the command to its end, within this process. */
export async function migrate(
  from: string,
  to: string,
  ...args: readonly string[]
): Promise<MigrateRun> {
  const { code, stdout, stderr } = await holdfast(migrateArgs(from, to, args));
  return runOf(code, stdout.split("\n").filter(Boolean), stderr);
}

function runOf(code: number | null, output: readonly string[], stderr: string): MigrateRun {
  const lines = output.map((line) => JSON.parse(line) as MigrateLine);
  const summary = lines.findLast(({ type }) => type === "summary");
  return { code, lines, summary, stderr };
}

/** Kills a run as `kill -9` does once it has done this many sessions. */
export async function killAfter(script: SpawnedScript, done: number): Promise<void> {
  await script.line((line) => {
    const { type, done: count = 0 } = JSON.parse(line) as MigrateLine;
    return type === "summary" || count >= done;
  });
  await script.kill9();
}
