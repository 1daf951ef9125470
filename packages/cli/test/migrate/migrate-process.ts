import { type SpawnedScript, spawnScript } from "@holdfast/testing";

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

/** Starts the real command. */
export function startMigrate(from: string, to: string, ...args: readonly string[]): SpawnedScript {
  return spawnScript(program, ["migrate", "--from", from, "--to", to, "--json", ...args]);
}

/** Waits for the end of a run. */
export async function ended(script: SpawnedScript): Promise<MigrateRun> {
  const { code } = await script.exited;
  const lines = script.lines.map((line) => JSON.parse(line) as MigrateLine);
  const summary = lines.findLast(({ type }) => type === "summary");
  return { code, lines, summary, stderr: script.stderr };
}

/** Runs the real command to its end. */
export function migrate(from: string, to: string, ...args: readonly string[]): Promise<MigrateRun> {
  return ended(startMigrate(from, to, ...args));
}

/** Kills a run as `kill -9` does once it has done this many sessions. */
export async function killAfter(script: SpawnedScript, done: number): Promise<void> {
  await script.line((line) => {
    const { type, done: count = 0 } = JSON.parse(line) as MigrateLine;
    return type === "summary" || count >= done;
  });
  await script.kill9();
}
