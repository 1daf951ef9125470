import { spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

// Both processes find the same session here. The directory is left for you to look at.
const directory = mkdtempSync(join(tmpdir(), "holdfast-delegation-"));

for (const name of ["first", "second"]) {
  console.log(`\n${name} process`);
  const program = fileURLToPath(new URL(`./${name}-process.js`, import.meta.url));
  const { status, signal } = spawnSync(process.execPath, [program], {
    cwd: directory,
    env: { ...process.env, HOLDFAST_STATE_HOME: join(directory, "state") },
    stdio: "inherit",
  });
  if (signal !== null) console.log(`  killed with ${signal}`);
  else if (status !== 0) throw new Error(`the ${name} process ended with ${status}`);
}
console.log(`\nStates, task records and logs are in ${directory}`);
