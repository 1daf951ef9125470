// Swaps a directory for a link to another place and back, as fast as it can, until told to stop; then says how often.
import { renameSync, rmSync, symlinkSync, unlinkSync } from "node:fs";
import { join } from "node:path";

const [home, outside] = process.argv.slice(2);
const directory = join(home, "swap");
let swaps = 0;
let isStopped = false;
process.stdin.once("data", () => {
  isStopped = true;
});

// The other process may be in the way at any step; the next round tries again.
function attempt(action) {
  try {
    action();
    return true;
  } catch {
    return false;
  }
}

function round(number) {
  const aside = join(home, `aside-${number}`);
  const isAside = attempt(() => renameSync(directory, aside));
  if (attempt(() => symlinkSync(outside, directory))) {
    swaps++;
    attempt(() => unlinkSync(directory));
  }
  if (isAside && !attempt(() => renameSync(aside, directory)))
    rmSync(aside, { recursive: true, force: true });
}

console.log("swapping");
let number = 0;
while (!isStopped) {
  for (let each = 0; each < 20; each++) round(number++);
  await new Promise((resolve) => setImmediate(resolve));
}
attempt(() => unlinkSync(directory));
console.log(`swaps ${swaps}`);
process.exit(0);
