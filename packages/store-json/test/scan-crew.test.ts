import { appendFileSync, existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { JsonlConversationLog, type StoreReport } from "@holdfast/store-json";
import { eventually } from "@holdfast/testing";
import { expect, test } from "vitest";
// What is built: threads run that.
import { searchSessions } from "../dist/log/search-sessions.js";
import { Scanner, type ScannerOptions } from "../dist/scan/scanner.js";
import { logFile, loggedSlot, record, records } from "./log-records.js";
import { temporaryRoot } from "./temporary-root.js";

const { agentId, userId } = loggedSlot;

/** A log of some dozens of parts, with a needle in the first record and in the last. */
async function written(): Promise<string> {
  const root = temporaryRoot();
  const log = new JsonlConversationLog({ root, durability: "os" });
  await log.append(loggedSlot, [
    record("first", "Needle"),
    ...records("r", 400, "x".repeat(500)),
    record("last", "needle"),
  ]);
  return root;
}

function searcher(root: string, options: ScannerOptions = {}) {
  const reports: StoreReport[] = [];
  const report = (each: StoreReport) => reports.push(each);
  const scanner = new Scanner(report, { crewFromBytes: 0, ...options });
  const search = async (text: string, signal?: AbortSignal) => {
    const query = { agentId, userId, text, signal };
    const { hits } = await searchSessions(root, query, { scanner, report, firstBytes: 1_000 });
    return hits.map(({ record: { id } }) => id);
  };
  return { search, reports };
}

/** A script for threads: the usual one, and then this. */
function script(directory: string, code: string): URL {
  const usual = new URL("../dist/scan/scan-worker.js", import.meta.url).href;
  const path = join(directory, "worker.mjs");
  writeFileSync(path, `await import(${JSON.stringify(usual)});\n${code}\n`);
  return pathToFileURL(path);
}

test("threads find what is found without them", async () => {
  const root = await written();
  const { search, reports } = searcher(root);
  expect(await search("needle")).toEqual(["last", "first"]);
  expect(await search("absent")).toEqual([]);
  expect(reports).toEqual([]);
});

test("a thread that cannot start is reported once, and the search goes on without", async () => {
  const root = await written();
  const worker = pathToFileURL(join(root, "there is none.mjs"));
  const { search, reports } = searcher(root, { worker });
  for (let round = 0; round < 3; round++) expect(await search("needle")).toEqual(["last", "first"]);
  expect(reports.map(({ kind }) => kind)).toEqual(["worker_failed"]);
});

test.each([
  ["exits", "process.exit(1)"],
  ["fails", "throw new Error('broken')"],
])("a thread that %s midway is reported, and nothing is missed", async (_, end) => {
  const root = await written();
  const directory = temporaryRoot();
  // It answers some orders, and ends while it has more.
  const code = `import { parentPort } from "node:worker_threads";
    let orders = 0;
    parentPort.on("message", () => { if (++orders > 1) ${end}; });`;
  const { search, reports } = searcher(root, { worker: script(directory, code) });
  for (let round = 0; round < 3; round++) expect(await search("needle")).toEqual(["last", "first"]);
  expect(reports.map(({ kind }) => kind)).toEqual(["worker_failed"]);
});

test("a search that is no longer wanted ends, also while threads look", async () => {
  const root = await written();
  // They never answer.
  const directory = temporaryRoot();
  const path = join(directory, "silent.mjs");
  writeFileSync(
    path,
    `import { writeFileSync } from "node:fs";
     import { parentPort } from "node:worker_threads";
     parentPort.on("message", () => writeFileSync(${JSON.stringify(join(directory, "asked"))}, ""));`,
  );
  const { search } = searcher(root, { worker: pathToFileURL(path) });
  const controller = new AbortController();
  const reason = new Error("enough");
  const searching = search("first", controller.signal);
  searching.catch(() => undefined);
  await eventually(() => existsSync(join(directory, "asked")), { what: "threads being asked" });
  controller.abort(reason);
  await expect(searching).rejects.toBe(reason);
});

test("a file that is deleted, or appended to, while it is searched does no harm", async () => {
  const root = await written();
  const { search } = searcher(root);
  const appending = search("needle");
  appendFileSync(logFile(root), `\n${JSON.stringify(record("late", "needle"))}\n`);
  // What came late may be found or not; what was there is.
  expect((await appending).filter((id) => id !== "late")).toEqual(["last", "first"]);
  expect(await search("needle")).toEqual(["late", "last", "first"]);
  const deleting = search("needle");
  rmSync(logFile(root));
  for (const id of await deleting) expect(["late", "last", "first"]).toContain(id);
  expect(await search("needle")).toEqual([]);
});
