import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { ConfigurationError } from "@holdfast/core";
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
  options: object,
  rules: { readonly [name: string]: OptionRule },
): void {
  const problems: string[] = [];
  for (const name of new Set([...Object.keys(rules), ...Object.keys(options)])) {
    const value: unknown = Reflect.get(options, name);
    const rule = rules[name];
    if (rule === undefined) problems.push(`${where}: there is no option ${name}`);
    else if (!rule.accepts(value))
      problems.push(`${where}: option ${name} is ${show(value)}; it must be ${rule.wanted}`);
  }
  if (problems.length > 0) throw new ConfigurationError(problems);
}

/** Returns the root to use: the one given, else `HOLDFAST_STATE_HOME`, else `~/.holdfast/state`. */
export function stateRoot(root: string | undefined): string {
  const home = process.env["HOLDFAST_STATE_HOME"];
  if (root !== undefined) return resolve(root);
  return resolve(home === undefined || home === "" ? join(homedir(), ".holdfast", "state") : home);
}

function show(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 64));
  if (typeof value === "object" && value !== null) return "an object";
  return typeof value === "function" ? "a function" : String(value);
}
