import { execFile } from "node:child_process";

/** Outcome of a program. */
export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program of a project to its end, as a person would: vitest and the keys of this machine are no business of its. */
export function runIn(
  cwd: string,
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  return new Promise((resolve) => {
    // One that hangs is ended, so that what it said until then is seen.
    const options = { cwd, env: plainEnvironment(env), maxBuffer: 2 ** 26, timeout: 480_000 };
    const child = execFile(program, args, options, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    );
    child.stdin?.end();
  });
}

/** The environment of a person without keys. */
export function plainEnvironment(env: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const isOurs = /^(?:VITEST|NODE_TEST|HOLDFAST_|ANTHROPIC_|OPENAI_|GOOGLE_|npm_)/u;
  const kept = Object.entries(process.env).filter(([name]) => !isOurs.test(name));
  return { ...Object.fromEntries(kept), NO_COLOR: "1", ...env };
}
