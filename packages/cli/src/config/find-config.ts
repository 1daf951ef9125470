import { stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { getuid } from "node:process";
import type { Terminal } from "../terminal/terminal.js";

/** Names a config file may have, the first that is there counts. */
export const configNames: readonly string[] = [
  "holdfast.config.ts",
  "holdfast.config.mts",
  "holdfast.config.js",
  "holdfast.config.mjs",
];

/**
 * The config file of a directory or of the nearest one above it. One that belongs to somebody else is passed over with a
 * warning: in a shared directory such as /tmp it would be a stranger's code.
 *
 * @param uid - who is asking; undefined where files have no owners
 */
export async function findConfig(
  terminal: Terminal,
  from: string,
  uid: number | undefined = getuid?.(),
): Promise<string | null> {
  for (let directory = from; ; directory = dirname(directory)) {
    for (const name of configNames) {
      const file = join(directory, name);
      const found = await stat(file).catch(() => undefined);
      if (!found?.isFile()) continue;
      if (uid === undefined || found.uid === uid || found.uid === 0) return file;
      terminal.warn(
        `${file} belongs to another user and is not loaded; if it is meant, name it with --config`,
      );
    }
    if (dirname(directory) === directory) return null;
  }
}
