import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { SessionInfo, Slot } from "@holdfast/core";
import { loadWhole, slotText } from "@holdfast/core/store-kit";
import { JsonFileAgentStateStore, type StoreReport } from "@holdfast/store-json";
import { scaled } from "@holdfast/testing";
import fc from "fast-check";
import { beforeEach, expect, test } from "vitest";
import { Disk } from "../src/io/disk.js";
import { COMPANION_FOLDERS, slotDirectory } from "../src/layout.js";
import { WaitingMarks } from "../src/waiting-marks.js";
import { change, slot } from "./session.js";
import { killingAt, needStrace, spread } from "./strace.js";
import { temporaryRoot } from "./temporary-root.js";

let root: string;
let reports: StoreReport[];
let store: JsonFileAgentStateStore;

beforeEach(() => begin());

function begin(): void {
  root = temporaryRoot();
  reports = [];
  store = openStore();
}

function openStore(): JsonFileAgentStateStore {
  const onReport = (report: StoreReport): void => void reports.push(report);
  return new JsonFileAgentStateStore({ root, durability: "os", onReport });
}

function named(sessionId: string, userId: string | null = "user"): Slot {
  return { agentId: "agent", userId, sessionId };
}

async function save(where: Slot, info?: SessionInfo): Promise<ReturnType<typeof change>> {
  const loaded = await loadWhole(store, where);
  const write = { ...change(loaded), ...(info && { info }) };
  await store.save(where, write);
  return write;
}

async function listed(limit = 100): Promise<string[]> {
  const found: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.list({ agentId: "agent", waiting: true, limit, cursor });
    found.push(...page.slots.map((each) => slotText(each.slot)));
    cursor = page.cursor;
  } while (cursor !== undefined);
  return found.sort();
}

const waitingFolder = (): string => join(root, COMPANION_FOLDERS.waiting);

/** The marks that are there, with the time `agedMs` taken from each. */
function marks(agedMs = 0): string[] {
  const found = readdirSync(waitingFolder(), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== "@complete")
    .map((entry) => join(entry.parentPath, entry.name));
  const time = (Date.now() - agedMs) / 1_000;
  if (agedMs > 0) for (const path of found) utimesSync(path, time, time);
  return found;
}

test("once all were looked at, a listing looks at those that wait alone, whatever is saved since", async () => {
  for (let at = 0; at < 20; at++) await save(named(`s${at}`), { waiting: at === 7 });
  expect(await listed()).toEqual([slotText(named("s7"))]);
  for (let at = 20; at < 30; at++) await save(named(`s${at}`), { waiting: at === 27 });
  // A look at one of these reports that its files belong to another session.
  for (const at of [3, 25])
    cpSync(slotDirectory(root, named("s4")), slotDirectory(root, named(`s${at}`)), {
      recursive: true,
    });
  expect(await listed(1)).toEqual([named("s7"), named("s27")].map(slotText));
  expect(reports).toEqual([]);
  await store.list();
  expect(reports.length).toBeGreaterThan(0);
});

test("sessions that the release before left waiting are found, and marked", async () => {
  for (const name of ["a", "b", "c"]) await save(named(name), { waiting: name !== "b" });
  rmSync(waitingFolder(), { recursive: true });
  const both = [named("a"), named("c")].map(slotText);
  for (const limit of [1, 100]) expect(await listed(limit)).toEqual(both);
  expect(marks()).toHaveLength(2);
  await save(named("a"), { waiting: false });
  expect(await listed()).toEqual([slotText(named("c"))]);
  expect(marks()).toHaveLength(1);
});

test("a root that cannot be written to is listed all the same", async () => {
  for (const name of ["a", "b"]) await save(named(name), { waiting: name === "a" });
  rmSync(waitingFolder(), { recursive: true });
  // Nothing can be made below a file.
  mkdirSync(waitingFolder());
  writeFileSync(join(waitingFolder(), "agent"), "");
  expect(await listed()).toEqual([slotText(named("a"))]);
});

test("a wait that has ended leaves no mark, nor does a deleted session", async () => {
  for (const waiting of [true, true]) await save(named("ended"), { waiting });
  await save(named("deleted"), { waiting: true });
  expect(marks()).toHaveLength(3);
  await save(named("ended"), { waiting: false });
  await store.delete(named("deleted"));
  expect(readdirSync(waitingFolder())).toEqual([]);
});

test("a mark without its wait is passed over, and removed when it is not fresh", async () => {
  const other = new WaitingMarks(root, new Disk("os"));
  await save(named("waits"), { waiting: true });
  await save(named("does not"), { waiting: false });
  // As a process leaves them that dies before its save.
  for (const name of ["does not", "never saved"]) await other.add(named(name), "a save");
  for (let times = 0; times < 2; times++)
    expect(await listed()).toEqual([slotText(named("waits"))]);
  expect(marks(), "they may be about to be saved").toHaveLength(3);
  marks(3_600_000);
  expect(await listed()).toEqual([slotText(named("waits"))]);
  expect(marks()).toHaveLength(1);
  expect(await listed()).toEqual([slotText(named("waits"))]);
});

test("wherever a process is killed, its session is listed if it waits", () => {
  needStrace();
  return killEverywhere();
});

async function killEverywhere(): Promise<void> {
  const script = fileURLToPath(new URL("./children/waiter.mjs", import.meta.url));
  const outcomes = new Set<string>();
  for (const [syscall, last, usual] of [
    ["link", 4, 2],
    ["fsync", 16, 8],
    ["fdatasync", 3, 1],
    ["unlink", 5, 2],
  ] as const)
    for (const count of spread(last, scaled(usual, last))) {
      begin();
      // Marked before anything is saved, so that listings rely on marks alone.
      expect(await listed()).toEqual([]);
      const [command = "", ...args] = killingAt(syscall, count);
      const { stdout } = spawnSync(command, [...args, process.execPath, script, root], {
        encoding: "utf8",
        // strace counts the calls of each thread.
        env: { ...process.env, UV_THREADPOOL_SIZE: "1" },
      });
      const said = stdout.trim().split("\n").at(-1) ?? "";
      const loaded = await store.load(slot);
      const waits = loaded !== null && loaded !== "unchanged" && loaded.info?.waiting === true;
      outcomes.add(`${said} ${waits}`);
      expect(await listed(), `killed at ${syscall} ${count}`).toEqual(
        waits ? [slotText(slot)] : [],
      );
    }
  expect(outcomes.size, "kills before, between and after the saves").toBeGreaterThan(3);
}

test("whatever dies or is repeated, a listing has exactly those that wait", async () => {
  const step = fc.record({
    session: fc.nat(3),
    move: fc.constantFrom("wait", "end", "none", "delete", "die", "repeat", "before", "list"),
    limit: fc.integer({ min: 1, max: 3 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      begin();
      const stores = [openStore(), openStore()];
      const other = new WaitingMarks(root, new Disk("os"));
      const waiting = new Set<string>();
      const writes = new Map<string, Awaited<ReturnType<typeof save>>[]>();
      let hasListed = false;
      for (const [at, { session, move, limit }] of steps.entries()) {
        store = stores[at % 2] as JsonFileAgentStateStore;
        const where = named(`s${session}`, session % 2 === 0 ? "user" : null);
        const name = slotText(where);
        const put = async (info?: SessionInfo): Promise<void> => {
          writes.set(name, [...(writes.get(name) ?? []), await save(where, info)]);
        };
        if (move === "wait") await put({ waiting: true }).then(() => waiting.add(name));
        if (move === "end") await put({ waiting: false }).then(() => waiting.delete(name));
        if (move === "none") await put();
        if (move === "delete") {
          await store.delete(where);
          waiting.delete(name);
          writes.delete(name);
        }
        if (move === "die") await other.add(where, `of a save that was never made ${at}`);
        const earlier = writes.get(name)?.slice(-16) ?? [];
        const repeated = earlier[at % Math.max(earlier.length, 1)];
        if (move === "repeat" && repeated !== undefined) await store.save(where, repeated);
        // What the release before saved has no marks.
        if (move === "before" && !hasListed)
          rmSync(waitingFolder(), { recursive: true, force: true });
        if (move !== "list") continue;
        hasListed = true;
        expect(await listed(limit)).toEqual([...waiting].sort());
      }
      expect(await listed(2)).toEqual([...waiting].sort());
    }),
    { numRuns: scaled(40, 400) },
  );
});
