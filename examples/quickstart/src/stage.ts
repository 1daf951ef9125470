import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/** Where the story takes place. */
export interface Stage {
  /** Where states are kept; also in the environment, for the agents to find. */
  readonly stateHome: string;
  readonly workspace: string;
  /** A session's id: as it is in a new home, made unique in one that may hold earlier runs. */
  session(name: string): string;
}

/** A new temporary directory, or the home the user chose with HOLDFAST_STATE_HOME. */
export function setStage(): Stage {
  const chosen = process.env["HOLDFAST_STATE_HOME"];
  const base = chosen ? resolve(chosen) : mkdtempSync(join(tmpdir(), "holdfast-quickstart-"));
  const stateHome = chosen ? base : join(base, "state");
  process.env["HOLDFAST_STATE_HOME"] = stateHome;
  const suffix = chosen ? `-${Date.now().toString(36)}` : "";
  return {
    stateHome,
    workspace: chosen ? resolve(".holdfast/workspace") : join(base, "workspace"),
    session: (name) => `${name}${suffix}`,
  };
}
