import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { JsonFileAgentStateStore } from "@holdfast/store-json";
import { scaled } from "@holdfast/testing";
import { beforeAll, expect, test } from "vitest";
import { append, rotate, sessionDirectory, sessionFiles } from "./session.js";
import { needStrace } from "./strace.js";
import { temporaryRoot } from "./temporary-root.js";

beforeAll(needStrace, 300_000);

test("a turn on a session of 5,000 messages writes as many bytes as on one of 10, rotations included", () => {
  const turns = scaled(450, 3_000);
  const [small = 0, large = 0] = [10, 5_000].map((messages) => {
    const root = temporaryRoot();
    const bytes = Number(child("meter.mjs", root, messages, turns));
    const [name = ""] = sessionFiles(root);
    expect(Number(name.split(".")[1]), "a rotation was among the turns").toBeGreaterThan(1);
    return bytes;
  });
  expect(small).toBeGreaterThan(turns * 4_000);
  expect(large / small).toBeLessThan(1.5);
});

test("asking whether a session changed reads nothing of its files", async () => {
  const root = temporaryRoot();
  const store = new JsonFileAgentStateStore({ root });
  await append(store, ["one", "two"]);
  await rotate(store);
  await append(store, ["three"]);
  const reads = [0, 50].map((times) => readsOf(root, times));
  expect(reads[0]).toBeGreaterThan(0);
  expect(reads[1]).toBe(reads[0]);
});

test("a warm turn nobody contends for opens no file and reads few directories", () => {
  const [few, many] = [10, 60].map((turns) => opensOf(turns)) as [Opens, Opens];
  // A file may be opened again on the way, as when a journal is rotated or a process stood still for seconds.
  expect(many.files - few.files).toBeLessThan(10);
  expect(many.directories - few.directories).toBeLessThanOrEqual(50 * 5);
});

interface Opens {
  readonly files: number;
  readonly directories: number;
}

/** Number of files and directories below the root that a process opens for so many turns. */
function opensOf(turns: number): Opens {
  const root = temporaryRoot();
  const trace = join(temporaryRoot(), "trace");
  const script = fileURLToPath(new URL("./children/warm-turns.mjs", import.meta.url));
  const options = ["-f", "-qq", "-o", trace, "-e", "trace=openat"];
  execFileSync("strace", [...options, process.execPath, script, root, String(turns)]);
  const opens = readFileSync(trace, "utf8")
    .split("\n")
    .filter((line) => line.includes(`"${root}`));
  const directories = opens.filter((line) => line.includes("O_DIRECTORY")).length;
  return { files: opens.length - directories, directories };
}

function child(name: string, ...args: readonly (string | number)[]): string {
  const script = fileURLToPath(new URL(`./children/${name}`, import.meta.url));
  return execFileSync(process.execPath, [script, ...args.map(String)], { encoding: "utf8" });
}

/** How often a process that loads the session, and then asks `times` times, reads one of its files. */
function readsOf(root: string, times: number): number {
  const trace = join(temporaryRoot(), "trace");
  const paths = readdirSync(sessionDirectory(root)).flatMap((name) => [
    "-P",
    join(sessionDirectory(root), name),
  ]);
  const script = fileURLToPath(new URL("./children/loader.mjs", import.meta.url));
  const options = ["-f", "-qq", "-o", trace, "-e", "trace=read,pread64", ...paths];
  execFileSync("strace", [...options, process.execPath, script, root, String(times)]);
  return readFileSync(trace, "utf8")
    .split("\n")
    .filter((line) => line.includes("read")).length;
}
