import { eventually } from "@holdfast/testing";
import { privateMariadb } from "@holdfast/testing/servers";
import { expect, onTestFinished, test } from "vitest";
import { codesOf, lossesOf } from "./check-turns.js";
import { freshPrefix } from "./choices.js";
import { openStore } from "./open-store.mjs";
import { turnLoad } from "./turn-load.js";

const kills = process.env["HOLDFAST_LONG"] === "1" ? 50 : 2;

test(`MariaDB killed ${kills} times under load: nothing torn, doubled or lost, and every call ends`, async () => {
  const mariadb = await privateMariadb();
  onTestFinished(() => mariadb.stop());
  const choice = {
    kind: "mysql",
    url: mariadb.url,
    prefix: freshPrefix(),
    leaseMs: 5_000,
  } as const;
  const { store, close } = openStore(choice);
  onTestFinished(close);
  const load = turnLoad(store, 12);
  onTestFinished(() => load.close());
  for (let kill = 0; kill < kills; kill++) {
    const before = load.acknowledged();
    await eventually(() => load.acknowledged() >= before + 30, {
      timeoutMs: 60_000,
      intervalMs: 1,
    });
    await mariadb.process.kill9();
    await mariadb.process.restart();
  }
  const before = load.acknowledged();
  await eventually(() => load.acknowledged() >= before + 30);
  await load.stop();
  const codes = ["CONFLICT", "LEASE_LOST", "UNAVAILABLE", "UNKNOWN_OUTCOME"];
  expect(codes).toEqual(expect.arrayContaining(codesOf(load)));
  expect(await lossesOf(store, load)).toEqual(new Map());
});
