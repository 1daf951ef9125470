// Runs one workspace script on a machine that has Node and npm but no pnpm:
// fetch the pinned pnpm through npx, install exactly what the lockfile says, run.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
const [script, ...rest] = process.argv.slice(2);

// Some tools colour their output whenever CI is set, even into a file.
const plain = process.stdout.isTTY || process.env.FORCE_COLOR ? {} : { NO_COLOR: "1" };

pnpm("install", "--frozen-lockfile");
pnpm("run", script, ...rest);

function pnpm(...args) {
  const { status } = spawnSync("npx", ["--yes", manifest.packageManager, ...args], {
    cwd: root,
    stdio: "inherit",
    shell: process.platform === "win32",
    env: {
      CI: "true",
      ...plain,
      ...process.env,
      TURBO_TELEMETRY_DISABLED: "1",
      DO_NOT_TRACK: "1",
    },
  });
  if (status !== 0) process.exit(status ?? 1);
}
