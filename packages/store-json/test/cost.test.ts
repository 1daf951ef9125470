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

test("a warm turn nobody contends for opens no file, changes two names and asks no other thread", () => {
  // Of files, some are opened on the way, as when a journal is rotated. The mailbox gets the name of the call, and loses it again.
  const most: Calls = { files: 0.2, directories: 5, names: 2.5, otherThreads: 1 };
  const kinds = Object.keys(most) as (keyof Calls)[];
  const [few, many]: [Calls[], Calls[]] = [[], []];
  // A process that stood still for seconds has closed its files, and other work never takes a call away: the fewest count.
  const perTurn = (kind: keyof Calls): number =>
    (Math.min(...many.map((calls) => calls[kind])) - Math.min(...few.map((calls) => calls[kind]))) /
    50;
  const tooMany = () => kinds.filter((kind) => perTurn(kind) > most[kind]);
  do {
    few.push(callsOf(10));
    many.push(callsOf(60));
  } while (tooMany().length > 0 && many.length < 5);
  expect(tooMany(), JSON.stringify({ few, many })).toEqual([]);
});

/** System calls of a process below its root. */
interface Calls {
  /** Files opened. */
  readonly files: number;
  /** Directories opened. */
  readonly directories: number;
  /** Names made, changed or removed. */
  readonly names: number;
  /** Calls of any kind that were not made at once. */
  readonly otherThreads: number;
}

/** Counts the system calls that so many turns take. */
function callsOf(turns: number): Calls {
  const root = temporaryRoot();
  const trace = join(temporaryRoot(), "trace");
  const script = fileURLToPath(new URL("./children/warm-turns.mjs", import.meta.url));
  const options = ["-f", "-qq", "-y", "-o", trace, "-e", "trace=%file,write,pwrite64,pread64"];
  execFileSync("strace", [...options, process.execPath, script, root, String(turns)]);
  const lines = readFileSync(trace, "utf8").split("\n");
  const main = lines[0]?.split(" ")[0];
  const calls = lines.filter((line) => line.includes(root) && !line.includes("resumed>"));
  const count = (pattern: RegExp): number => calls.filter((line) => pattern.test(line)).length;
  const directories = count(/ openat\(.*O_DIRECTORY/);
  return {
    files: count(/ openat\(/) - directories,
    directories,
    names: count(/ (mkdir|rmdir|link|unlink|rename)(at2?)?\(/),
    otherThreads: calls.filter((line) => line.split(" ")[0] !== main).length,
  };
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
