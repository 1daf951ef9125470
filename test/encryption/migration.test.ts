import { InMemoryAgentStateStore, textOf, userMessage } from "@holdfast/core";
import { blobRef, withBlobs } from "@holdfast/core/store-kit";
import { withEncryption } from "@holdfast/encryption";
import { expect, test } from "vitest";
import { freshOptions } from "./keys.js";
import {
  corruption,
  loadState,
  marked,
  said,
  saveTexts,
  slotOf,
  tamper,
  writeOn,
} from "./stored.js";
import { partsOf } from "./subjects.js";

const slot = slotOf();
const long = "A line of a long file.\n".repeat(4_000);

function stores() {
  const inner = new InMemoryAgentStateStore();
  const options = freshOptions();
  return {
    inner,
    options,
    strict: withEncryption(inner, options),
    migrating: withEncryption(inner, { ...options, readPlaintext: true }),
  };
}

test("a session from before is read while migrating, and after one whole save without that", async () => {
  const { inner, strict, migrating } = stores();
  await saveTexts(inner, slot, ["a", "b"]);
  await corruption(() => strict.load(slot));
  const loaded = await loadState(migrating, slot);
  expect(loaded.messages.map(textOf)).toEqual(["a", "b"]);

  await migrating.save(slot, writeOn(loaded, [userMessage("c")]));
  const mixed = await loadState(migrating, slot);
  expect(mixed.messages.map(textOf)).toEqual(["a", "b", "c"]);
  expect((await corruption(() => strict.load(slot))).message).toContain("message 0");

  await migrating.save(slot, writeOn(mixed, mixed.messages, { keep: 0 }));
  expect((await loadState(strict, slot)).messages.map(textOf)).toEqual(["a", "b", "c"]);
  expect(JSON.stringify(await loadState(inner, slot))).not.toContain('"text"');
});

test("a log from before is read with what came after, long texts too", async () => {
  const { inner, options, strict, migrating } = stores();
  const [before, after] = [partsOf(inner).log, partsOf(migrating).log];
  const mark = marked({ name: "call_end", outcome: "committed" });
  await before.append(slot, [said(`before ${long}`), mark]);
  await after.append(slot, [said(`after ${long}`), said("short")]);
  const texts = [];
  for (const record of await after.read(slot)) {
    const { message } = await withBlobs(after, slot, record);
    texts.push(message && textOf(message));
  }
  expect(texts).toEqual([`before ${long}`, undefined, `after ${long}`, "short"]);
  const fresh = partsOf(withEncryption(inner, { ...options, readPlaintext: true })).log;
  for (const text of [`before ${long}`, `after ${long}`])
    expect(await fresh.readBlob(slot, blobRef(text))).toBe(text);
  await corruption(() => partsOf(strict).log.read(slot));
});

test("a value from before is read while migrating", async () => {
  const { inner, strict, migrating } = stores();
  await partsOf(inner).keyValue.put(["n"], "k", { text: "x" });
  const [values, only] = [partsOf(migrating).keyValue, partsOf(strict).keyValue];
  await corruption(() => only.get(["n"], "k"));
  const entry = await values.get(["n"], "k");
  expect(entry?.value).toEqual({ text: "x" });
  await values.put(["n"], "k", entry?.value ?? null, { expected: entry?.version });
  expect((await only.get(["n"], "k"))?.value).toEqual({ text: "x" });
});

test("what is sealed and damaged is not taken for something from before", async () => {
  const { inner, migrating } = stores();
  await saveTexts(migrating, slot, ["a"]);
  await tamper(inner, slot, () => ({ head: { sealed: "damaged" } }));
  await corruption(() => migrating.load(slot));
});
