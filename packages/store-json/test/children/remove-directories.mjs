// Makes a directory and removes it and the one above it, over and over, as calls of a session do that come and go; until it
// is killed or the process that started it is gone.
// Usage: node remove-directories.mjs <path>
import { mkdirSync, rmdirSync } from "node:fs";
import { dirname } from "node:path";

const path = process.argv[2] ?? "";
const attempt = (/** @type {() => unknown} */ run) => {
  try {
    run();
  } catch {
    // Not there, there already, or not empty.
  }
};
function rounds() {
  for (let n = 0; n < 1_000; n++) {
    attempt(() => mkdirSync(path, { recursive: true }));
    attempt(() => rmdirSync(path));
    attempt(() => rmdirSync(dirname(path)));
  }
  setImmediate(rounds);
}
process.on("disconnect", () => process.exit(0));
rounds();
