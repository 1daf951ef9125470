import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { ConfigurationError } from "@holdfast/core";
import { isRecord, showValue, unknownNames } from "@holdfast/core/plugin-kit";
import type { Durability } from "./io/disk.js";
import type { ReportSink } from "./report.js";

/** Options of every store of this package. */
export interface FileOptions {
  /** Directory of all files, on a local file system; created when it is first needed. */
  readonly root: string;
  /**
   * Moment at which a write counts as done: `"fsync"`, the device has it; `"os"`, the operating system has it, and a
   * power loss may take the last seconds.
   * @default "fsync"
   */
  readonly durability?: Durability | undefined;
  /** Called for each problem that the store worked around, such as a record cut short by a crash. */
  readonly onReport?: ReportSink | undefined;
}

/** Check of an option, and the words for its error. */
export interface OptionRule {
  readonly accepts: (value: unknown) => boolean;
  readonly wanted: string;
}

/** Rules of {@link FileOptions}. */
export const fileOptionRules: { readonly [name in keyof FileOptions]-?: OptionRule } = {
  root: {
    accepts: (value) => typeof value === "string" && value !== "" && !value.includes("\0"),
    wanted: "the path of a directory",
  },
  durability: {
    accepts: (value) => value === undefined || value === "fsync" || value === "os",
    wanted: '"fsync" or "os"',
  },
  onReport: {
    accepts: (value) => value === undefined || typeof value === "function",
    wanted: "a function",
  },
};

/**
 * Checks options against their rules.
 *
 * @throws ConfigurationError that names every wrong option, its value and the accepted ones
 */
export function checkOptions(
  where: string,
  options: unknown,
  rules: { readonly [name: string]: OptionRule },
): void {
  if (!isRecord(options))
    throw new ConfigurationError(
      `${where}: options is ${showValue(options)}: must be an object such as { root: "./state" }`,
    );
  const problems = unknownNames(options, Object.keys(rules), "option").map(
    (problem) => `${where}: ${problem}`,
  );
  for (const [name, { accepts, wanted }] of Object.entries(rules))
    if (!accepts(options[name]))
      problems.push(
        `${where}: option ${name} is ${showValue(options[name])}; it must be ${wanted}`,
      );
  if (problems.length > 0) throw new ConfigurationError(problems);
}

/** Returns the root to use: the one given, else `HOLDFAST_STATE_HOME`, else `~/.holdfast/state`. */
export function stateRoot(root: string | undefined): string {
  const home = process.env["HOLDFAST_STATE_HOME"];
  if (root !== undefined) return resolve(root);
  return resolve(home === undefined || home === "" ? join(homedir(), ".holdfast", "state") : home);
}
