import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { scaled } from "@holdfast/testing";
import { beforeAll, expect, test } from "vitest";
import { inParallel } from "../src/io/in-parallel.js";
import { expectWholeState, runSaver, storedHash } from "./saver-process.js";
import { failing, needStrace, spread } from "./strace.js";
import { temporaryRoot } from "./temporary-root.js";

beforeAll(needStrace, 300_000);

const scenario = { turns: 14, bytes: 12_000, seed: 7 };

test.concurrent("a sync that fails leaves the outcome unknown, and the repeated save is done in files written anew", async () => {
  await inParallel(spread(12, scaled(1, 12)), 2, async (at) => {
    const root = temporaryRoot();
    const wrapper = failing(["fdatasync", "EIO", String(at)]);
    const { lines, exitCode } = await runSaver({ ...scenario, seed: 1, root, wrapper });
    expect(failuresIn(lines)).toEqual(["UNKNOWN_OUTCOME"]);
    expect(exitCode).toBe(0);
    await expectWholeState(root, lines, "deleted");
    // Seed 1 neither rotates nor deletes by itself: the second generation is the one written after the failure.
    expect(filesOf(root).some((name) => name.startsWith("state.2."))).toBe(true);
  });
});

test.concurrent("while syncs fail nothing is acknowledged, and what was before stays readable", async () => {
  await inParallel(spread(11, scaled(1, 11)), 2, async (at) => {
    const root = temporaryRoot();
    // The first save passes: one fdatasync of its journal, five fsyncs of its directories.
    const wrapper = failing(["fdatasync", "EIO", `${at + 1}+`], ["fsync", "EIO", "6+"]);
    const { lines, exitCode } = await runSaver({ ...scenario, root, wrapper });
    const failed = lines.findIndex((line) => line.startsWith("failed"));
    expect(failed).toBeGreaterThan(-1);
    expect(lines.slice(failed).filter((line) => line.startsWith("ack"))).toEqual([]);
    expect(new Set(failuresIn(lines))).toEqual(new Set(["UNKNOWN_OUTCOME"]));
    expect(exitCode).toBe(3);
    await expectWholeState(root, lines, "deleted");
  });
});

test.concurrent("a disk that is full for a moment costs an error that says nothing was changed", async () => {
  await inParallel(spread(6, scaled(1, 6)), 2, async (at) => {
    const root = temporaryRoot();
    const wrapper = failing(["write", "ENOSPC", String(at), journalOf(root)]);
    const { lines, exitCode } = await runSaver({ ...scenario, root, wrapper });
    expect(failuresIn(lines)).toEqual(["UNAVAILABLE"]);
    expect(exitCode).toBe(0);
    await expectWholeState(root, lines, "deleted");
  });
});

test.concurrent("a write cut short by a full disk is not a save, and later saves go on behind it", async () => {
  for (const kilobytes of scaled([33], [20, 33, 47, 50])) {
    const root = temporaryRoot();
    const limit = ["bash", "-c", `ulimit -f ${kilobytes}; exec "$@"`, "bash"];
    const { lines, exitCode } = await runSaver({ ...scenario, root, wrapper: limit });
    expect(failuresIn(lines)).toContain("UNAVAILABLE");
    expect(exitCode).toBe(3);
    const stored = await expectWholeState(root, lines, "deleted");
    const next = await runSaver({ ...scenario, root });
    expect(next.lines).toContain("end");
    await expectWholeState(root, next.lines, stored);
  }
});

test.concurrent.each([
  ["openat", "EMFILE"],
  ["openat", "EACCES"],
])(
  "%s failing with %s on the journal fails the save and leaves the rest alone",
  async (call, error) => {
    const root = temporaryRoot();
    const { lines, exitCode } = await runSaver({
      ...scenario,
      root,
      wrapper: failing([call, error, "1", journalOf(root)]),
    });
    expect(failuresIn(lines)).toEqual(["UNAVAILABLE"]);
    expect(exitCode).toBe(0);
    await expectWholeState(root, lines, "deleted");
  },
);

test.concurrent.each([
  ["link", "EIO"],
  ["link", "ENOSPC"],
  ["unlink", "EIO"],
  ["fsync", "EIO"],
])("%s failing with %s at any time loses no acknowledged save", async (call, error) => {
  await inParallel(spread(scaled(1, 12), scaled(1, 12)), 2, async (at) => {
    const root = temporaryRoot();
    const wrapper = failing([call, error, String(call === "fsync" ? at * 3 : at)]);
    const { lines, exitCode } = await runSaver({ ...scenario, root, wrapper });
    for (const code of failuresIn(lines))
      expect(["UNAVAILABLE", "UNKNOWN_OUTCOME"]).toContain(code);
    expect(exitCode).toBe(0);
    await expectWholeState(root, lines, "deleted");
  });
});

test.concurrent("a load that fails says so, and is never taken for an absent session", async () => {
  const root = temporaryRoot();
  await runSaver({ ...scenario, turns: 3, root });
  const before = await storedHash(root);
  const wrapper = failing(["openat", "EIO", "1", journalOf(root)]);
  const { lines, exitCode } = await runSaver({ ...scenario, turns: 3, root, wrapper });
  expect(exitCode).toBe(5);
  expect(lines).toEqual(["failed load UNAVAILABLE"]);
  expect(await storedHash(root)).toBe(before);
});

function failuresIn(lines: readonly string[]): string[] {
  return lines.filter((line) => line.startsWith("failed ")).map((line) => line.split(" ")[2] ?? "");
}

function journalOf(root: string): string {
  return join(root, "agent", "user-user", "session", "journal.1.jsonl");
}

function filesOf(root: string): string[] {
  const directory = join(root, "agent", "user-user", "session");
  return existsSync(directory) ? readdirSync(directory) : [];
}
