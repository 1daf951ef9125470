import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { ConfigurationError, type Slot, userMessage } from "@holdfast/core";
import { JsonlConversationLog, type StoreReport } from "@holdfast/store-json";
import { expect, test } from "vitest";
import { idsOf, logFile, loggedSlot, record, records } from "./log-records.js";
import { temporaryRoot } from "./temporary-root.js";

const long = "A line that is repeated until it is long.\n".repeat(3_000);
const hash = createHash("sha256").update(long).digest("hex");
const ref = `sha256:${hash}`;

test("a named user's logs are below users/, an anonymous session's below a directory of its own", async () => {
  const root = temporaryRoot();
  const log = new JsonlConversationLog({ root });
  await log.append({ agentId: "Coder", userId: "a/b", sessionId: "s.1" }, [record("1", long)]);
  await log.append({ agentId: "Coder", userId: null, sessionId: "s.1" }, [record("1")]);
  expect(filesBelow(root)).toEqual([
    "sessions/s%2e1/agents/%43oder/sessions/s%2e1.log.jsonl",
    `users/a%2fb/agents/%43oder/sessions/s%2e1.blobs/sha256-${hash}`,
    "users/a%2fb/agents/%43oder/sessions/s%2e1.log.jsonl",
  ]);
});

test("only the owner can read what is written", async () => {
  const root = join(temporaryRoot(), "made", "by", "the log");
  await new JsonlConversationLog({ root }).append(loggedSlot, [record("1", long)]);
  const modes = new Set<string>();
  for (const name of readdirSync(root, { recursive: true, encoding: "utf8" })) {
    const stats = statSync(join(root, name));
    modes.add(`${stats.isDirectory() ? "directory" : "file"} ${(stats.mode & 0o777).toString(8)}`);
  }
  expect(modes).toEqual(new Set(["directory 700", "file 600"]));
  expect(statSync(root).mode & 0o777).toBe(0o700);
});

test("a file is a header with the ids and a record per line, and seq is the place of the line", async () => {
  const root = temporaryRoot();
  const log = new JsonlConversationLog({ root });
  await log.append(loggedSlot, records("r", 3, "zwölf \n Bären"));
  const text = readFileSync(logFile(root));
  const [header, ...lines] = text
    .toString()
    .split("\n")
    .filter((line) => line !== "");
  expect(JSON.parse(header ?? "")).toMatchObject({ format: "holdfast.log", v: 1, ...loggedSlot });
  expect(lines.map((line) => Object.keys(JSON.parse(line)))).toEqual(
    Array(3).fill(["v", "id", "callId", "at", "kind", "message"]),
  );
  for (const [index, { seq }] of (await log.read(loggedSlot)).entries())
    expect(
      text
        .subarray(seq - 1)
        .toString()
        .startsWith(lines[index] ?? "-"),
    ).toBe(true);
});

test("making a log touches no file, and options are checked", () => {
  const root = join(temporaryRoot(), "later");
  new JsonlConversationLog({ root });
  expect(existsSync(root)).toBe(false);
  const bad = { root: "", durability: "none", colour: "red" };
  expect(() => new JsonlConversationLog(bad as never)).toThrow(ConfigurationError);
});

test("a log that stands in another session's place is damage, not that session's log", async () => {
  const root = temporaryRoot();
  const log = new JsonlConversationLog({ root });
  const other = { ...loggedSlot, sessionId: "other" };
  await log.append(other, [record("1", "needle")]);
  renameSync(join(dirname(logFile(root)), "other.log.jsonl"), logFile(root));
  const corrupt = { code: "CORRUPT", message: expect.stringContaining("another session") };
  await expect(log.read(loggedSlot)).rejects.toMatchObject(corrupt);
  await expect(log.append(loggedSlot, [record("2")])).rejects.toMatchObject(corrupt);
  await expect(log.search({ ...loggedSlot, text: "needle" })).rejects.toMatchObject(corrupt);
  expect(await log.delete(loggedSlot)).toBe(true);
});

test.each([
  ["no header", '{"v":1,"id":"1"}\n'],
  ["a header cut short", '{"format":"holdfast.log","v":1,"fi'],
  ["a header without ids", '{"format":"holdfast.log","v":1,"file":"x","agentId":"agent"}\n'],
  ["bytes", "\0\0\0\0\n"],
])("a file that begins with %s is damage", async (_, contents) => {
  const root = temporaryRoot();
  mkdirSync(dirname(logFile(root)), { recursive: true });
  writeFileSync(logFile(root), contents);
  const log = new JsonlConversationLog({ root });
  await expect(log.read(loggedSlot)).rejects.toMatchObject({ code: "CORRUPT" });
  await expect(log.append(loggedSlot, [record("1")])).rejects.toMatchObject({ code: "CORRUPT" });
  expect(readFileSync(logFile(root), "utf8")).toBe(contents);
});

test("a log of a newer release is left alone", async () => {
  const root = temporaryRoot();
  const log = new JsonlConversationLog({ root });
  await log.append(loggedSlot, [record("1")]);
  const newer = readFileSync(logFile(root), "utf8").replace('"v":1', '"v":2');
  writeFileSync(logFile(root), newer);
  await expect(log.read(loggedSlot)).rejects.toMatchObject({ code: "STATE_TOO_NEW" });
  await expect(log.append(loggedSlot, [record("2")])).rejects.toMatchObject({
    code: "STATE_TOO_NEW",
  });
  expect(readFileSync(logFile(root), "utf8")).toBe(newer);
});

test("an empty file, as a power loss leaves it where nothing is synced, is a log without records", async () => {
  const root = temporaryRoot();
  mkdirSync(dirname(logFile(root)), { recursive: true });
  writeFileSync(logFile(root), "");
  const log = new JsonlConversationLog({ root });
  expect(await log.read(loggedSlot)).toEqual([]);
  await log.append(loggedSlot, records("a", 2));
  await log.append(loggedSlot, [...records("a", 2), record("b")]);
  expect(idsOf(await log.read(loggedSlot))).toEqual(["a1", "a2", "b"]);
});

test("a long text is one file, however often and by whom it is appended", async () => {
  const root = temporaryRoot();
  const logs = [new JsonlConversationLog({ root }), new JsonlConversationLog({ root })];
  await Promise.all(
    logs.flatMap((log, index) =>
      [1, 2, 3].map((number) => log.append(loggedSlot, [record(`${index}.${number}`, long)])),
    ),
  );
  const blobs = join(dirname(logFile(root)), "session.blobs");
  expect(readdirSync(blobs)).toEqual([`sha256-${hash}`]);
  const { ino } = statSync(join(blobs, `sha256-${hash}`));
  await logs[0]?.append(loggedSlot, [record("again", long)]);
  expect(statSync(join(blobs, `sha256-${hash}`)).ino).toBe(ino);
  expect(await logs[1]?.read(loggedSlot)).toHaveLength(7);
  expect(statSync(logFile(root)).size).toBeLessThan(7_000);
});

test("a long text that changed is damage; one that lost its contents is written again when it comes again", async () => {
  const root = temporaryRoot();
  const log = new JsonlConversationLog({ root });
  await log.append(loggedSlot, [record("1", long)]);
  const file = join(dirname(logFile(root)), "session.blobs", `sha256-${hash}`);
  writeFileSync(file, long.replace("repeated", "replaced"));
  await expect(log.readBlob(loggedSlot, ref)).rejects.toMatchObject({ code: "CORRUPT" });
  writeFileSync(file, "");
  await log.append(loggedSlot, [record("2", long)]);
  expect(await log.readBlob(loggedSlot, ref)).toBe(long);
});

test("no reference names a file outside the session's own", async () => {
  const root = temporaryRoot();
  const log = new JsonlConversationLog({ root });
  await log.append(loggedSlot, [record("1", long)]);
  const directory = join(dirname(logFile(root)), "session.blobs");
  copyFileSync(logFile(root), join(directory, "sha256-secret"));
  for (const bad of [
    "sha256:secret",
    "sha256:../session.log.jsonl",
    `sha256:${hash.toUpperCase()}`,
    `${ref}\n`,
    `${ref}/..`,
    ` ${ref}`,
    `sha256-${hash}`,
  ])
    expect(await log.readBlob(loggedSlot, bad)).toBeNull();
  expect(await log.readBlob(loggedSlot, ref)).toBe(long);
});

test("files of a dead process are swept, those of a living one are not", async () => {
  const root = temporaryRoot();
  const log = new JsonlConversationLog({ root });
  const directory = dirname(logFile(root));
  mkdirSync(directory, { recursive: true });
  for (const name of ["tmp.1.aa", "tmp.2.bb", "mine.txt"])
    writeFileSync(join(directory, name), "x");
  utimesSync(join(directory, "tmp.1.aa"), 0, 0);
  utimesSync(join(directory, "mine.txt"), 0, 0);
  await log.append(loggedSlot, [record("1")]);
  expect(readdirSync(directory).sort()).toEqual(["mine.txt", "session.log.jsonl", "tmp.2.bb"]);
});

test("a deleted log leaves nothing, and an anonymous session not even its directories", async () => {
  const root = temporaryRoot();
  const log = new JsonlConversationLog({ root });
  const slots: Slot[] = [loggedSlot, { ...loggedSlot, userId: null }];
  for (const slot of slots) {
    await log.append(slot, [record("1", long)]);
    expect(await log.delete(slot)).toBe(true);
  }
  expect(filesBelow(root)).toEqual([]);
  expect(readdirSync(join(root, "sessions"))).toEqual([]);
});

test("what is left of a delete that was cut short is deleted by the next one", async () => {
  const root = temporaryRoot();
  const log = new JsonlConversationLog({ root });
  await log.append(loggedSlot, [record("1", long)]);
  renameSync(logFile(root), `${logFile(root)}.gone`);
  expect(await log.delete(loggedSlot)).toBe(true);
  expect(await log.readBlob(loggedSlot, ref)).toBeNull();
  expect(await log.delete(loggedSlot)).toBe(false);
});

test("an append after another instance's delete goes by the new file, whatever this one remembers", async () => {
  const root = temporaryRoot();
  const [one, other] = [new JsonlConversationLog({ root }), new JsonlConversationLog({ root })];
  for (let round = 0; round < 10; round++) {
    await one.append(loggedSlot, records("r", 3));
    await other.delete(loggedSlot);
    // The file system may give the new file the old one's inode number, and it has the old one's size.
    await other.append(loggedSlot, [...records("s", 1), ...records("r", 2)]);
    await one.append(loggedSlot, records("r", 3));
    expect(idsOf(await one.read(loggedSlot))).toEqual(["s1", "r1", "r2", "r3"]);
    expect(readFileSync(logFile(root), "utf8").match(/"v":1,"id"/g)).toHaveLength(4);
    await one.delete(loggedSlot);
  }
});

test("appends and deletes at once, from two instances, end in a log that can be read and used", async () => {
  const root = temporaryRoot();
  const reports: StoreReport[] = [];
  const onReport = (report: StoreReport) => reports.push(report);
  const logs = [0, 1].map(() => new JsonlConversationLog({ root, durability: "os", onReport }));
  const slot = { ...loggedSlot, userId: null };
  await Promise.all(
    Array.from({ length: 60 }, async (_, index) => {
      const log = logs[index % 2];
      if (index % 5 === 4) await log?.delete(slot);
      else await log?.append(slot, records(`${index}.`, 2));
    }),
  );
  for (const log of logs) {
    await log.append(slot, [record("last")]);
    expect(idsOf(await log.read(slot)).at(-1)).toBe("last");
  }
  expect(reports).toEqual([]);
});

test("an error names the session, and neither a path nor what was to be written", async () => {
  const root = join(temporaryRoot(), "logs");
  const log = new JsonlConversationLog({ root });
  await log.append(loggedSlot, [record("1")]);
  renameSync(root, `${root}.gone`);
  writeFileSync(root, "");
  const error = await log.append(loggedSlot, [record("2", "a secret")]).catch((caught) => caught);
  expect(error).toMatchObject({ code: "UNAVAILABLE", mayHaveApplied: false });
  expect(error.message).toContain('session "session" of user "user", agent "agent"');
  expect(error.message).not.toContain(root);
  expect(error.message).not.toContain("secret");
});

test("the bytes of an append are the caller's values at the time of the call", async () => {
  const log = new JsonlConversationLog({ root: temporaryRoot() });
  const message = { ...userMessage("as it was") };
  const draft = { ...record("1"), message };
  const appended = log.append(loggedSlot, [draft]);
  message.content = [{ type: "text", text: "changed" }];
  draft.id = "2";
  await appended;
  const [stored] = await log.read(loggedSlot);
  expect(stored).toMatchObject({ id: "1", message: { content: [{ text: "as it was" }] } });
});

function filesBelow(root: string): string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort();
}
