import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/** Directories of one run. */
export interface Directories {
  /** Directory of the states; also set in the environment, where agents look it up. */
  readonly stateHome: string;
  readonly workspace: string;
  /** Returns a session's id: the name itself in a new directory, a unique one where earlier runs may have left sessions. */
  session(name: string): string;
}

/** Creates a temporary directory, or takes the one named by HOLDFAST_STATE_HOME. */
export function createDirectories(): Directories {
  const chosen = process.env["HOLDFAST_STATE_HOME"];
  const base = chosen ? resolve(chosen) : mkdtempSync(join(tmpdir(), "holdfast-crash-and-resume-"));
  const stateHome = chosen ? base : join(base, "state");
  process.env["HOLDFAST_STATE_HOME"] = stateHome;
  const suffix = chosen ? `-${Date.now().toString(36)}` : "";
  return {
    stateHome,
    workspace: chosen ? resolve(".holdfast/workspace") : join(base, "workspace"),
    session: (name) => `${name}${suffix}`,
  };
}
