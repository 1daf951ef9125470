import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { JsonFileAgentStateStore } from "@holdfast/store-json";
import { tempDirectory } from "@holdfast/testing";
import { expect, inject, test } from "vitest";
import { openStore } from "../../src/store/open-store.js";
import { ended, migrate, program, startMigrate } from "./migrate-process.js";
import { sampleSessions, seed } from "./sample-sessions.js";

const sessions = sampleSessions(100);

function seedFiles(root: string): Promise<void> {
  return seed(new JsonFileAgentStateStore({ root, durability: "os" }).companions(), sessions);
}

const target = () => `${inject("redisUrl")}?prefix=${randomUUID()}:`;

test("a reader that goes away stops it between sessions: code 143, and no lease is left", async () => {
  await using directory = await tempDirectory();
  const [from, to] = [`json:${directory.path}`, target()];
  await seedFiles(directory.path);
  const args = ["migrate", "--from", from, "--to", to, "--json", "--concurrency", "4"];
  const child = spawn(process.execPath, [fileURLToPath(program), ...args], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const exited = once(child, "close");
  child.stdout.once("data", () => child.stdout.destroy());
  expect(await exited).toStrictEqual([143, null]);
  const opened = await openStore(to);
  for (const { slot } of sessions) expect(await opened.parts.gate.calls(slot)).toStrictEqual([]);
  await opened.close();
  expect(await migrate(from, to)).toMatchObject({ code: 0, stderr: "" });
});

test("a terminal that goes away stops it as SIGTERM does", async () => {
  await using directory = await tempDirectory();
  await seedFiles(directory.path);
  await using script = startMigrate(`json:${directory.path}`, target(), "--concurrency", "1");
  await script.line((line) => line.includes('"progress"'));
  process.kill(script.pid, "SIGHUP");
  expect(await ended(script)).toMatchObject({ code: 143, summary: { interrupted: true } });
});
