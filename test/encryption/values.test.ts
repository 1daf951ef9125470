import { randomBytes } from "node:crypto";
import {
  InMemoryKeyValueStore,
  type JsonValue,
  StateCorruptError,
  StateTooLargeError,
} from "@holdfast/core";
import { withEncryption } from "@holdfast/encryption";
import fc from "fast-check";
import { expect, test } from "vitest";
import { freshOptions } from "./keys.js";
import { corruption } from "./stored.js";

const space = ["notes", "u"];

function encryptedValues() {
  const inner = new InMemoryKeyValueStore();
  return { inner, values: withEncryption({ keyValue: inner }, freshOptions()).keyValue };
}

async function storedValue(inner: InMemoryKeyValueStore, key: string): Promise<JsonValue> {
  return (await inner.get(space, key))?.value ?? null;
}

test("a value opens only under its key and in its namespace", async () => {
  const { inner, values } = encryptedValues();
  await values.put(space, "a", "text a");
  await values.put(space, "b", "text b");
  const stored = await storedValue(inner, "a");
  await inner.put(space, "b", stored);
  expect((await corruption(() => values.get(space, "b"))).message).toContain('key "b"');
  await corruption(() => values.getMany(space, ["a", "b"]));
  await inner.put(["notes", "v"], "a", stored);
  await corruption(() => values.get(["notes", "v"], "a"));
  expect((await values.get(space, "a"))?.value).toBe("text a");
});

test("a readable value in an encrypted store is not read", async () => {
  const { inner, values } = encryptedValues();
  for (const forged of ["text", null, [], { text: "x" }, { sealed: "text" }, { sealed: null }]) {
    await inner.put(space, "a", forged);
    await corruption(() => values.get(space, "a"));
  }
});

test("any JSON value comes back, and whichever bit is flipped, as it was or not at all", async () => {
  const { inner, values } = encryptedValues();
  const property = fc.asyncProperty(
    fc.jsonValue(),
    fc.nat(),
    fc.nat({ max: 6 }),
    async (any, position, bit) => {
      const value = JSON.parse(JSON.stringify(any)) as JsonValue;
      await values.put(space, "a", value);
      expect((await values.get(space, "a"))?.value).toEqual(value);
      const { sealed } = (await storedValue(inner, "a")) as { sealed: string };
      const at = position % sealed.length;
      const flipped = String.fromCharCode(sealed.charCodeAt(at) ^ (1 << bit));
      const changed = sealed.slice(0, at) + flipped + sealed.slice(at + 1);
      await inner.put(space, "a", { sealed: changed });
      const result = await values.get(space, "a").catch((error) => error);
      if (!StateCorruptError.is(result)) expect(result?.value).toEqual(value);
    },
  );
  await fc.assert(property, { numRuns: 300 });
});

test("a value over 1 MB is refused; of what fits, all but nearly a megabyte of noise fits sealed", async () => {
  const { inner, values } = encryptedValues();
  const put = (value: JsonValue) => values.put(space, "a", value);
  await put("x".repeat(1_000_000));
  // Base64 and printable noise are the hardest to compress that JSON text can be.
  await put(randomBytes(750_000).toString("base64"));
  await put(printable(900_000));
  const stored = await storedValue(inner, "a");
  for (const tooLarge of ["x".repeat(1_100_000), printable(1_040_000)])
    await expect(put(tooLarge)).rejects.toSatisfy(StateTooLargeError.is);
  expect(await storedValue(inner, "a")).toEqual(stored);
});

const printables = Array.from({ length: 95 }, (_, at) => String.fromCharCode(0x20 + at)).filter(
  (character) => character !== '"' && character !== "\\",
);

function printable(count: number): string {
  const { length } = printables;
  return Array.from(randomBytes(count), (byte) => printables[(byte * length) >> 8]).join("");
}
