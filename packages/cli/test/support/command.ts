import { fileURLToPath } from "node:url";

/** The command as it is published. */
export const main: string = fileURLToPath(new URL("../../dist/main.js", import.meta.url));

/** The environment without what could change how the command behaves on the machine that runs the tests. */
export function plainEnvironment(
  env: Readonly<Record<string, string | undefined>> = {},
): Record<string, string> {
  const isOurs = /^(VITEST|HOLDFAST_|ANTHROPIC_|OPENAI_|GOOGLE_|CI$|NO_COLOR$|FORCE_COLOR$)/u;
  const kept = Object.entries(process.env).filter(([name]) => !isOurs.test(name));
  const all = { ...Object.fromEntries(kept), TERM: "xterm-256color", ...env };
  const set = Object.entries(all).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return Object.fromEntries(set);
}
