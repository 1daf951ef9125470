import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { tempDirectory } from "@holdfast/testing";
import { expect, test } from "vitest";

const execute = promisify(execFile);
/** Loads the source: no entry point has it. */
const load = `(await import(${JSON.stringify(import.meta.resolve("jiti"))})).createJiti(${JSON.stringify(import.meta.url)}).import("../src/files/remove-tree.ts")`;

test("a tree deeper than a process may have files open is removed, and what links in it point to stays", async () => {
  await using directory = await tempDirectory();
  const inIt = { cwd: directory.path };
  await execute("sh", ["-c", `mkdir -p outside tree/$(yes d/ | head -300 | tr -d '\\n')`], inIt);
  await execute("sh", ["-c", "echo kept > outside/kept; ln -s ../outside tree/link"], inIt);
  const script = `const { removeTree } = await ${load}; await removeTree(process.argv.at(-1));`;
  const node = [process.execPath, "--input-type=module", "--eval", script, "--"];
  await execute("prlimit", ["--nofile=150", "--", ...node, join(directory.path, "tree")]);
  expect(await readdir(directory.path)).toEqual(["outside"]);
  expect(await readdir(join(directory.path, "outside"))).toEqual(["kept"]);
});
