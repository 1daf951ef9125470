import { type SpawnedScript, spawnScript } from "@holdfast/testing";
import { onTestFinished } from "vitest";

/** Runs a program of `test/programs` in a process of its own, on the built packages; it does not outlive the test. */
export function startProgram(
  name: string,
  stateHome: string,
  args: readonly string[],
): SpawnedScript {
  const file = new URL(`./programs/${name}.mjs`, import.meta.url);
  const program = spawnScript(file, args, { env: { HOLDFAST_STATE_HOME: stateHome } });
  onTestFinished(() => program[Symbol.asyncDispose]());
  return program;
}

/** Waits for its end, which must be a good one, and reads the line of JSON it printed. */
export async function outcome<T>(program: SpawnedScript): Promise<T> {
  const { code } = await program.exited;
  if (code !== 0) throw new Error(`the program ended with ${code}: ${program.stderr}`);
  return JSON.parse(program.lines.at(-1) ?? "null") as T;
}
