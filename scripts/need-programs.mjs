// Makes sure that the programs which tests start are on this machine: installs what is missing where that takes no
// question (root on a Debian-like system) and says so; elsewhere stops with what to type. Tests are never skipped.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

/** Program, or any one of several, and the Debian package it comes in. */
const needed = [
  ["strace", "strace"],
  ["redis-server", "redis-server"],
  ["mariadbd", "mariadb-server"],
  ["mariadb-install-db", "mariadb-server"],
  ["bwrap", "bubblewrap"],
  ["prlimit", "util-linux"],
  ["rg", "ripgrep"],
  ["faketime", "faketime"],
  [["chromium", "chromium-browser", "google-chrome"], "chromium"],
];

// Debian keeps servers where only root looks for programs.
const env = { ...process.env, PATH: `${process.env.PATH}:/usr/local/sbin:/usr/sbin` };
const isHere = (program) => spawnSync(program, ["--version"], { env }).error === undefined;
const missing = needed.filter(([programs]) => ![programs].flat().some(isHere));
if (missing.length > 0) install([...new Set(missing.map(([, name]) => name))]);

function install(packages) {
  const command = `apt-get install -y ${packages.join(" ")}`;
  if (process.getuid?.() !== 0 || !existsSync("/etc/debian_version")) {
    console.error(`Tests need ${packages.join(", ")}. Install and run again: sudo ${command}`);
    process.exit(1);
  }
  console.log(`Tests need ${packages.join(", ")}: ${command}`);
  apt("update");
  apt("install", "-y", "--no-install-recommends", ...packages);
}

function apt(...args) {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const { status } = spawnSync("apt-get", args, { stdio: "inherit", env });
  if (status !== 0) process.exit(status ?? 1);
}
