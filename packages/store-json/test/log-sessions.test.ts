import { copyFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { LogSessionPage } from "@holdfast/core/store-kit";
import { JsonlConversationLog, type StoreReport } from "@holdfast/store-json";
import { expect, test } from "vitest";
import { logFile, loggedSlot, record } from "./log-records.js";
import { temporaryRoot } from "./temporary-root.js";

const { agentId } = loggedSlot;
const userId = "user";

/** Sessions `s0` to `s<count - 1>`, the last one written to last. */
async function written(count: number): Promise<{ root: string; log: JsonlConversationLog }> {
  const root = temporaryRoot();
  const log = new JsonlConversationLog({ root, durability: "os" });
  for (let index = 0; index < count; index++) {
    await log.append({ agentId, userId, sessionId: `s${index}` }, [record("1")]);
    utimesSync(fileOf(root, `s${index}`), 1_000 + index, 1_000 + index);
  }
  return { root, log };
}

function fileOf(root: string, sessionId: string): string {
  return join(dirname(logFile(root)), `${sessionId}.log.jsonl`);
}

function idsIn({ sessions }: LogSessionPage): string[] {
  return sessions.map(({ slot }) => slot.sessionId);
}

test("sessions are listed by when they were written to, the last one first", async () => {
  const { root, log } = await written(3);
  const page = await log.sessions({ agentId, userId });
  expect(idsIn(page)).toEqual(["s2", "s1", "s0"]);
  expect(page.sessions[0]?.lastAt).toBe(statSync(fileOf(root, "s2")).mtime.toISOString());
});

test("a session that is written to between two pages is neither missed nor listed twice", async () => {
  const { log } = await written(6);
  const first = await log.sessions({ agentId, userId, limit: 2 });
  expect(idsIn(first)).toEqual(["s5", "s4"]);
  for (const sessionId of ["s4", "s0"])
    await log.append({ agentId, userId, sessionId }, [record("2")]);
  const rest = await log.sessions({ agentId, userId, limit: 10, cursor: first.cursor });
  expect(idsIn(rest)).toEqual(["s3", "s2", "s1", "s0"]);
});

test("a cursor serves another instance too", async () => {
  const { root, log } = await written(5);
  const { cursor } = await log.sessions({ agentId, userId, limit: 2 });
  const other = new JsonlConversationLog({ root });
  expect(idsIn(await other.sessions({ agentId, userId, cursor }))).toEqual(["s2", "s1", "s0"]);
});

test("sessions written to at the same time are all listed", async () => {
  const { root, log } = await written(5);
  for (let index = 0; index < 5; index++) utimesSync(fileOf(root, `s${index}`), 1_000, 1_000);
  const listed: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await log.sessions({ agentId, userId, limit: 2, cursor });
    listed.push(...idsIn(page));
    cursor = page.cursor;
  } while (cursor !== undefined);
  expect(listed.sort()).toEqual(["s0", "s1", "s2", "s3", "s4"]);
});

test("files that are the log of no session here are passed over and reported", async () => {
  const { root } = await written(1);
  const reports: StoreReport[] = [];
  const log = new JsonlConversationLog({ root, onReport: (report) => reports.push(report) });
  copyFileSync(fileOf(root, "s0"), fileOf(root, "stolen"));
  writeFileSync(fileOf(root, "broken"), "{}\n");
  writeFileSync(fileOf(root, "empty"), "");
  expect(idsIn(await log.sessions({ agentId, userId }))).toEqual(["s0"]);
  expect(reports.map(({ kind }) => kind)).toEqual(["entry_skipped", "entry_skipped"]);
});

test("what is no cursor is refused", async () => {
  const { log } = await written(1);
  for (const cursor of ["", "x", Buffer.from("[1]").toString("base64url")])
    await expect(log.sessions({ agentId, userId, cursor })).rejects.toMatchObject({
      code: "INVALID_INPUT",
    });
});
