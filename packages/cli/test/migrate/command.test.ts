import { randomUUID } from "node:crypto";
import { symlink } from "node:fs/promises";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { JsonFileAgentStateStore, JsonlConversationLog } from "@holdfast/store-json";
import { eventually, spawnScript, tempDirectory } from "@holdfast/testing";
import { expect, inject, test } from "vitest";
import { openPair } from "../../src/migrate/open-pair.js";
import { openStore } from "../../src/store/open-store.js";
import { stateOf } from "./add-turn.js";
import { ended, migrate, program, startMigrate } from "./migrate-process.js";
import {
  recordOf,
  sampleMessage,
  sampleSession,
  sampleSessions,
  seed,
  seedOne,
} from "./sample-sessions.js";
import { contentsOf, contentsOfAll } from "./store-contents.js";

function files(root: string) {
  return new JsonFileAgentStateStore({ root, durability: "os" }).companions();
}

test("a conflict ends with code 4, and a verification tells what it is", async () => {
  await using directory = await tempDirectory();
  const [from, to] = [`${directory.path}/from`, `${directory.path}/to`];
  const { slot } = sampleSession(3);
  await seed(files(from), sampleSessions(5));
  await seedOne(files(to), { ...sampleSession(12), slot });
  const own = await contentsOf(files(to), slot);
  const run = await migrate(`json:${from}`, `json:${to}`);
  expect(run.code).toBe(4);
  expect(run.summary?.outcomes).toMatchObject({ copied: 4, conflict: 1 });
  expect(await contentsOf(files(to), slot)).toStrictEqual(own);
  const check = await migrate(`json:${from}`, `json:${to}`, "--verify-only");
  expect(check.code).toBe(4);
  expect(check.summary?.outcomes).toMatchObject({ present: 4, conflict: 1, copied: 0 });
});

test("a dry run makes nothing, not even the directory", async () => {
  await using directory = await tempDirectory();
  await seed(files(`${directory.path}/from`), sampleSessions(3));
  const [from, to] = [`json:${directory.path}/from`, `json:${directory.path}/to`];
  const run = await migrate(from, to, "--dry-run");
  expect(run).toMatchObject({ code: 0, summary: { outcomes: { missing: 3 } } });
  expect((await migrate(from, to, "--verify-only")).code).toBe(3);
});

test("what makes no sense is refused with code 2, and a store that is not there with 3 or 5", async () => {
  await using directory = await tempDirectory();
  await seed(files(directory.path), sampleSessions(1));
  const here = `json:${directory.path}`;
  const port = await closedPort();
  const [same, none, down, odd] = await Promise.all([
    migrate(here, here),
    migrate(`${here}/nothing`, here),
    migrate(here, `redis://:secret@127.0.0.1:${port}`),
    migrate(here, `${here}2`, "--concurrency", "0"),
  ]);
  expect([same.code, none.code, down.code, odd.code]).toStrictEqual([2, 3, 5, 2]);
  expect(down.stderr).not.toContain("secret");
});

test("a wrong URL is called by its option, and one store is known under two names", async () => {
  await using directory = await tempDirectory();
  const root = `${directory.path}/from`;
  await seed(files(root), sampleSessions(1));
  await symlink(root, `${directory.path}/link`);
  const open = (from: string, to: string) => {
    const flags = { from, to, concurrency: 1, passes: 1, wait: 0 };
    return openPair(flags, () => undefined);
  };
  await expect(open("nonsense:", `json:${root}`)).rejects.toThrow(/^--from: there is no store/);
  await expect(open(`json:${root}`, "redis://h/words")).rejects.toThrow(/^--to: redis/);
  await expect(open("redis://h?ttlMs=x", "redis://h?ttlMs=x&prefix=b")).rejects.toThrow(/^--from:/);
  for (const [one, other] of [
    [`json:${root}`, `json:${directory.path}/link/`],
    ["redis://localhost?prefix=a", "redis://user:secret@127.0.0.1:6379/0?leaseMs=5&prefix=a"],
    ["mysql://u@h/db", "mysql://other@h:3306/db?ssl=true"],
    ["redis://h", "redis://h?prefix=holdfast:"],
    ["mysql://u@h/db?prefix=holdfast_", "mysql://u@h/db"],
  ])
    await expect(open(one ?? "", other ?? "")).rejects.toThrow("same store");
});

test("Ctrl-C stops between sessions with code 130, and the next run goes on", async () => {
  await using directory = await tempDirectory();
  const to = `${inject("redisUrl")}?prefix=${randomUUID()}:`;
  const sessions = sampleSessions(100);
  await seed(files(directory.path), sessions);
  await using script = startMigrate(`json:${directory.path}`, to, "--concurrency", "1");
  await script.line((line) => line.includes('"progress"'));
  process.kill(script.pid, "SIGINT");
  const stopped = await ended(script);
  expect(stopped).toMatchObject({ code: 130, summary: { interrupted: true } });
  const done = stopped.summary?.outcomes?.["copied"] ?? 0;
  const next = await migrate(`json:${directory.path}`, to);
  expect(next).toMatchObject({ code: 0, summary: { outcomes: { present: done } } });
  const opened = await openStore(to);
  expect(await contentsOfAll(opened.parts, sessions)).toStrictEqual(
    await contentsOfAll(files(directory.path), sessions),
  );
  await opened.close();
});

test("a source that is written to meanwhile arrives whole: every turn, each with its log", async () => {
  await using directory = await tempDirectory();
  const to = `${inject("redisUrl")}?prefix=${randomUUID()}:`;
  const root = `${directory.path}/from`;
  await seed(files(root), sampleSessions(60));
  await using writer = spawnScript(new URL("./busy-writer.mjs", import.meta.url), [root]);
  await writer.line("turn 5");
  const live = await migrate(`json:${root}`, to, "--passes", "3");
  expect([0, 1]).toContain(live.code);
  expect(live.summary?.outcomes).toMatchObject({ mismatch: 0, conflict: 0, failed: 0 });
  const slots = Array.from({ length: 4 }, (_, index) => ({
    agentId: "busy",
    userId: "writer",
    sessionId: `live-${index}`,
  }));
  const opened = await openStore(to);
  for (const slot of slots) {
    const state = await stateOf(opened.parts, slot);
    // Every message of the state that was copied is in the log that was copied.
    const logged = new Set<string>();
    for (const record of await opened.parts.log.read(slot, { after: 0, limit: 100_000 }))
      if (record.message) logged.add(record.message.id);
    expect(state.messages.filter(({ id }) => !logged.has(id))).toStrictEqual([]);
    expect(state.head["turns"]).toBe(state.messages.length);
  }
  writer.send("stop");
  await writer.line("stopped");
  const last = await migrate(`json:${root}`, to);
  expect(last).toMatchObject({ code: 0, stderr: "" });
  for (const slot of slots)
    expect(await contentsOf(opened.parts, slot)).toStrictEqual(await contentsOf(files(root), slot));
  await opened.close();
});

test("the log of a default agent is found in its workspace, and missing it is remarked on", async () => {
  await using directory = await tempDirectory();
  const [root, workspace] = [`${directory.path}/from`, `${directory.path}/workspace`];
  const parts = { ...files(root), log: new JsonlConversationLog({ root: workspace }) };
  const sessions = sampleSessions(6);
  await seed(parts, sessions);
  const [from, to] = [`json:${root}`, `json:${directory.path}/to`];
  expect((await migrate(from, to, "--dry-run")).stderr).toContain("--from-workspace");
  const run = await migrate(from, to, "--from-workspace", workspace);
  expect(run).toMatchObject({ code: 0, stderr: "" });
  const copy = await contentsOfAll(files(`${directory.path}/to`), sessions);
  expect(copy).toStrictEqual(await contentsOfAll(parts, sessions));
});

test("a workspace that is not there ends with 3, before any state is copied without its log", async () => {
  await using directory = await tempDirectory();
  const [root, workspace] = [`${directory.path}/from`, `${directory.path}/workspace`];
  const [from, to] = [`json:${root}`, `json:${directory.path}/to`];
  await seed(
    { ...files(root), log: new JsonlConversationLog({ root: workspace }) },
    sampleSessions(3),
  );
  const wrong = await migrate(from, to, "--from-workspace", `${workspace}-mistyped`);
  expect(wrong).toMatchObject({ code: 3, lines: [] });
  expect(wrong.stderr).toContain(`--from-workspace ${workspace}-mistyped: no such directory`);
  const file = await migrate(from, to, "--from-workspace", fileURLToPath(import.meta.url));
  expect(file).toMatchObject({ code: 3, stderr: expect.stringContaining("not a directory") });
  const run = await migrate(
    from,
    to,
    "--from-workspace",
    workspace,
    "--to-workspace",
    `${workspace}2`,
  );
  expect(run).toMatchObject({ code: 0, stderr: "" });
  const sides = ["--from-workspace", workspace, "--to-workspace"];
  const right = await migrate(from, to, "--verify-only", ...sides, `${workspace}2`);
  expect(right).toMatchObject({ code: 0, summary: { outcomes: { present: 3 } } });
  const check = await migrate(from, to, "--verify-only", ...sides, `${workspace}3`);
  expect(check).toMatchObject({ code: 3, stderr: expect.stringContaining("--to-workspace") });
});

test("a workspace without any log is remarked on", async () => {
  await using directory = await tempDirectory();
  const root = `${directory.path}/from`;
  await seed(files(root), sampleSessions(3));
  const [from, to] = [`json:${root}`, `json:${directory.path}/to`];
  const run = await migrate(from, to, "--from-workspace", directory.path, "--dry-run");
  expect(run.stderr).toContain("no log");
});

test("long texts of many megabytes go through little memory", async () => {
  await using directory = await tempDirectory();
  const [root, to] = [`${directory.path}/from`, `${directory.path}/to`];
  const session = sampleSession(10);
  await seedOne(files(root), session);
  for (let number = 0; number < 24; number++) {
    const text = `${number} ${"words of many kinds ".repeat(150_000)}`;
    const message = { ...sampleMessage(1, number), content: [{ type: "text" as const, text }] };
    await files(root).log.append(session.slot, [recordOf(1, number, message)]);
  }
  const env = { NODE_OPTIONS: "--max-old-space-size=64" };
  const args = ["migrate", "--from", `json:${root}`, "--to", `json:${to}`, "--json"];
  const plain = await ended(spawnScript(program, args, { env }));
  expect(plain).toMatchObject({ code: 0, stderr: "" });
  expect(plain.summary?.verified?.["bytes"]).toBeGreaterThan(72_000_000);
});

test("people see what is copied and what it came to", async () => {
  await using directory = await tempDirectory();
  await seed(files(`${directory.path}/from`), sampleSessions(4));
  const args = ["--from", `json:${directory.path}/from`, "--to", `json:${directory.path}/to`];
  const script = spawnScript(program, ["migrate", ...args]);
  expect(await script.exited).toMatchObject({ code: 0 });
  expect(script.lines.join("\n")).toMatch(/^copying json:.*\n4 copied\nverified: 4 sessions, /u);
});

/** A port of the loopback on which nobody listens. */
async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (typeof address !== "object" || address === null) throw new Error("no port");
  await eventually(() => !server.listening, { what: "the port being free" });
  return address.port;
}
