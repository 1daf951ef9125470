import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { outcomeOf } from "./outcome.js";
import { Progress } from "./progress.js";
import { showOutcome, showSizes } from "./report.js";
import { playSession } from "./session.js";

const { values } = parseArgs({ options: { json: { type: "boolean", default: false } } });
const directory = mkdtempSync(join(tmpdir(), "holdfast-endless-session-"));
try {
  const progress = values.json ? undefined : new Progress();
  progress?.begin();
  const session = await playSession(directory, (turn, all) => progress?.turn(turn, all));
  const outcome = outcomeOf(session);
  if (values.json) console.log(JSON.stringify(outcome));
  else {
    showSizes(session, outcome);
    showOutcome(outcome);
  }
  if (outcome.problems.length > 0) process.exitCode = 1;
} finally {
  rmSync(directory, { recursive: true, force: true });
}
