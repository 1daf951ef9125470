import { randomUUID } from "node:crypto";
import { JsonFileAgentStateStore } from "@holdfast/store-json";
import { scaled, tempDirectory } from "@holdfast/testing";
import { expect, inject, test } from "vitest";
import { openStore } from "../../src/store/open-store.js";
import { memoryParts } from "./memory-parts.js";
import { ended, killAfter, migrate, startMigrate } from "./migrate-process.js";
import { sampleSessions, seed } from "./sample-sessions.js";
import { contentsOfAll, listed } from "./store-contents.js";

const COUNT = scaled(60, 5_000);

test(`${COUNT} sessions are byte for byte the same after JSON, Redis, MySQL and JSON, killed twice on the way`, async () => {
  await using directory = await tempDirectory();
  const prefix = `m${randomUUID().slice(0, 8)}`;
  const first = `json:${directory.path}/first`;
  const redis = `${inject("redisUrl")}?prefix=${prefix}:&leaseMs=3000`;
  const mysql = `${inject("mysqlUrl")}?prefix=${prefix}_&leaseMs=3000`;
  const last = `json:${directory.path}/last`;
  const sessions = sampleSessions(COUNT);
  const source = new JsonFileAgentStateStore({
    root: `${directory.path}/first`,
    durability: "os",
  });
  const twin = memoryParts();
  await seed(source.companions(), sessions, twin);
  const before = await contentsOfAll(twin, sessions);
  expect(before.size).toBe(COUNT);

  await killAfter(startMigrate(first, redis), Math.floor(Math.random() * COUNT * 0.3));
  const toRedis = await migrate(first, redis);
  expect(toRedis).toMatchObject({ code: 0, stderr: "" });
  expect(toRedis.summary?.verified).toMatchObject({ sessions: COUNT });

  await killAfter(startMigrate(redis, mysql), Math.floor(Math.random() * COUNT * 0.3));
  const toMysql = await migrate(redis, mysql);
  expect(toMysql).toMatchObject({ code: 0, stderr: "" });
  expect(toMysql.summary?.verified).toStrictEqual(toRedis.summary?.verified);

  const back = await ended(startMigrate(mysql, last));
  expect(back).toMatchObject({ code: 0, stderr: "" });
  expect(back.summary?.verified).toStrictEqual(toRedis.summary?.verified);

  const opened = await openStore(last);
  const slots = await listed(opened.parts);
  expect(slots).toStrictEqual([...before.keys()].sort());
  expect(await contentsOfAll(opened.parts, sessions)).toStrictEqual(before);
  await opened.close();
});
