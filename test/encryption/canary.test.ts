import { withEncryption } from "@holdfast/encryption";
import { JsonFileAgentStateStore } from "@holdfast/store-json";
import { tempDirectory } from "@holdfast/testing";
import { expect, onTestFinished, test } from "vitest";
import { canary, filesWith } from "./canary.js";
import { freshOptions } from "./keys.js";
import { loadState, slotOf } from "./stored.js";
import { partsOf } from "./subjects.js";
import { writeEverywhere } from "./write-everywhere.js";

const slot = slotOf();

test("no file holds anything of what was said, in any form", async () => {
  const directory = await tempDirectory();
  onTestFinished(() => directory.cleanup());
  const inner = new JsonFileAgentStateStore({ root: directory.path });
  const store = withEncryption(inner, freshOptions());
  await writeEverywhere(store);
  expect(filesWith(directory.path)).toEqual([]);
  const { log, keyValue, eventFeed } = partsOf(store);
  const page = await eventFeed?.read(slot, "call", -1);
  expect(page?.batches.map(({ body }) => body)).toEqual([canary, canary]);
  expect(JSON.stringify(await loadState(store, slot))).toContain(canary);
  expect(JSON.stringify(await log.read(slot))).toContain(canary);
  expect(JSON.stringify(await keyValue.get(["notes"], "key"))).toContain(canary);
  expect((await log.search({ ...slot, text: canary })).hits).toHaveLength(4);
});

test("the same without encryption is found in states, logs, blobs, values and events", async () => {
  const directory = await tempDirectory();
  onTestFinished(() => directory.cleanup());
  await writeEverywhere(new JsonFileAgentStateStore({ root: directory.path }));
  expect(filesWith(directory.path).length).toBeGreaterThanOrEqual(5);
});
