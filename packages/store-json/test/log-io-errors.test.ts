import { readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { JsonlConversationLog, type StoreReport } from "@holdfast/store-json";
import { beforeAll, expect, test } from "vitest";
import { runLogProcess } from "./log-process.js";
import { idsOf, logFile, loggedSlot, pagedBack } from "./log-records.js";
import { failing, needStrace } from "./strace.js";
import { temporaryRoot } from "./temporary-root.js";

beforeAll(needStrace, 300_000);

test("after a sync that failed, the records are written anew, not taken from the system's cache", async () => {
  const root = temporaryRoot();
  const wrapper = failing(["fdatasync", "EIO", "2"]);
  const steps = [
    { append: ["before"] },
    { append: ["a", "b"] },
    { append: ["other"] },
    { append: ["a", "b"] },
    { append: ["a", "b"] },
  ];
  const { lines } = await runLogProcess({ root, steps, wrapper });
  expect(outcomes(lines)).toEqual(["ok 0", "UNKNOWN_OUTCOME 1", "ok 2", "ok 3", "ok 4"]);
  expect(storedIds(root)).toEqual(["before", "a", "b", "other", "a", "b"]);
  const log = new JsonlConversationLog({ root });
  expect(idsOf(await log.read(loggedSlot))).toEqual(["before", "a", "b", "other"]);
  expect(idsOf(await pagedBack(log, loggedSlot, 1))).toEqual(["before", "a", "b", "other"]);
});

test("while syncs fail nothing is acknowledged", async () => {
  const root = temporaryRoot();
  const wrapper = failing(["fdatasync", "EIO", "1+"]);
  const steps = Array.from({ length: 4 }, () => ({ append: ["a"] }));
  const { lines } = await runLogProcess({ root, steps, wrapper });
  expect(outcomes(lines)).toEqual([0, 1, 2, 3].map((step) => `UNKNOWN_OUTCOME ${step}`));
  expect(idsOf(await new JsonlConversationLog({ root }).read(loggedSlot))).toEqual(["a"]);
});

test("a record that another process left unsynced is synced before it is acknowledged again", async () => {
  const root = temporaryRoot();
  await runLogProcess({ root, steps: [{ append: ["a"] }], durability: "os" });
  const wrapper = failing(["fdatasync", "EIO", "1"]);
  const { lines } = await runLogProcess({ root, steps: [{ append: ["a"] }], wrapper });
  expect(outcomes(lines)).toEqual(["UNKNOWN_OUTCOME 0"]);
});

test("a disk that is full for a moment costs an error that says nothing was stored", async () => {
  const root = temporaryRoot();
  const wrapper = failing(["write", "ENOSPC", "2", logFile(root)]);
  const steps = [{ append: ["a"] }, { append: ["b"] }, { append: ["c"] }, { append: ["b"] }];
  const { lines } = await runLogProcess({ root, steps, wrapper });
  expect(outcomes(lines)).toEqual(["ok 0", "UNAVAILABLE 1", "ok 2", "ok 3"]);
  expect(storedIds(root)).toEqual(["a", "c", "b"]);
});

test("an append of megabytes that was cut short is completed by the repeat, without doubling a line", async () => {
  const root = temporaryRoot();
  const limit = ["bash", "-c", 'ulimit -f 2200; exec "$@"', "bash"];
  const ids = Array.from({ length: 50 }, (_, index) => `r${index}`);
  const steps = [{ append: ids, bytes: 60_000 }];
  const { lines } = await runLogProcess({ root, steps, wrapper: limit });
  expect(outcomes(lines)).toEqual(["UNAVAILABLE 0"]);
  expect(statSync(logFile(root)).size).toBeGreaterThan(2_000_000);
  await runLogProcess({ root, steps });
  expect(storedIds(root)).toEqual(ids);
});

test("a write cut short by a full disk is an error, and what is missing comes with the repeat", async () => {
  const root = temporaryRoot();
  const limit = ["bash", "-c", 'ulimit -f 20; exec "$@"', "bash"];
  const steps = [{ append: ["a", "b", "c"], bytes: 9_000 }];
  const { lines } = await runLogProcess({ root, steps, wrapper: limit });
  expect(outcomes(lines)).toEqual(["UNAVAILABLE 0"]);
  const reports: StoreReport[] = [];
  const log = new JsonlConversationLog({ root, onReport: (report) => reports.push(report) });
  expect(idsOf(await log.read(loggedSlot))).toEqual(["a", "b"]);
  await runLogProcess({ root, steps });
  expect(storedIds(root)).toEqual(["a", "b", "c"]);
  expect(idsOf(await log.read(loggedSlot))).toEqual(["a", "b", "c"]);
  expect(reports.map(({ kind }) => kind)).toEqual(["torn_record"]);
});

test.each([
  ["openat", "EACCES", logFile],
  ["openat", "EMFILE", logFile],
  ["pread64", "EIO", logFile],
  ["link", "EIO", logFile],
  ["fsync", "EIO", (root: string) => dirname(logFile(root))],
])("%s failing with %s fails the append, and the next one goes on", async (call, error, path) => {
  const root = temporaryRoot();
  const wrapper = failing([call, error, "1", path(root)]);
  const { lines } = await runLogProcess({
    root,
    steps: [{ append: ["a"] }, { append: ["a"] }],
    wrapper,
  });
  expect(outcomes(lines)).toEqual(["UNAVAILABLE 0", "ok 1"]);
  expect(storedIds(root)).toEqual(["a"]);
});

test("leftovers that cannot be looked for do not keep an append from being done", async () => {
  const root = temporaryRoot();
  const wrapper = failing(["openat", "EIO", "1", dirname(logFile(root))]);
  const { lines } = await runLogProcess({ root, steps: [{ append: ["a"] }], wrapper });
  expect(outcomes(lines)).toEqual(["ok 0"]);
});

test("a read that fails says so, and is never an empty log", async () => {
  const root = temporaryRoot();
  await runLogProcess({ root, steps: [{ append: ["a"] }] });
  for (const call of ["openat", "pread64"]) {
    const wrapper = failing([call, "EIO", "1", logFile(root)]);
    const { lines } = await runLogProcess({ root, steps: [{ read: 10 }, { read: 10 }], wrapper });
    expect(outcomes(lines)[0]).toBe("UNAVAILABLE 0");
    expect(outcomes(lines)[1]).toMatch(/^read 1 /);
  }
});

test("an append is one write, synced before it is acknowledged, and so is the name of a new file", async () => {
  const root = temporaryRoot();
  const output = join(temporaryRoot(), "trace");
  const calls = "trace=write,fsync,fdatasync,link,linkat";
  const wrapper = ["strace", "-f", "-y", "-qq", "-s", "16", "-o", output, "-e", calls];
  const steps = [{ append: ["a", "b", "c"], bytes: 60_000 }, { append: ["d"] }];
  const { lines } = await runLogProcess({ root, steps, wrapper });
  expect(outcomes(lines)).toEqual(["ok 0", "ok 1"]);
  const file = logFile(root);
  const trace = readFileSync(output, "utf8")
    .split("\n")
    .flatMap((line) => eventIn(line, root));
  const inFile = (what: string) => `${what} ${file.slice(root.length)}`;
  const firstAck = trace.indexOf("say ok 0");
  const first = trace.slice(0, firstAck);
  expect(first.filter((event) => event === inFile("write"))).toHaveLength(1);
  expect(first.at(-1)).toBe(inFile("fdatasync"));
  const linked = first.indexOf("link");
  for (let above = dirname(file); above.length >= root.length; above = dirname(above))
    expect(first.indexOf(`fsync ${above.slice(root.length)}`)).toBeGreaterThan(linked);
  expect(trace.slice(firstAck + 1)).toEqual([
    "say intent 1",
    inFile("write"),
    inFile("fdatasync"),
    "say ok 1",
  ]);
});

/** One line of a trace, if it is about the log's files or what the process says. */
function eventIn(line: string, root: string): string[] {
  const said = /write\(1<.*?>, "(.*?)(\\n)?"/.exec(line)?.[1];
  if (said !== undefined) return [`say ${said}`];
  if (/ link(at)?\(/.test(line)) return ["link"];
  const [, call, path] = / (write|fsync|fdatasync)\(\d+<(.*?)>/.exec(line) ?? [];
  return path?.startsWith(root) ? [`${call} ${path.slice(root.length)}`] : [];
}

function outcomes(lines: readonly string[]): string[] {
  return lines.filter((line) => !line.startsWith("intent"));
}

/** The ids of all whole lines in the file, repeats included. */
function storedIds(root: string): string[] {
  return readFileSync(logFile(root), "utf8")
    .split("\n")
    .flatMap((line) => {
      try {
        return [JSON.parse(line).id ?? []].flat();
      } catch {
        return [];
      }
    });
}
