import { InMemoryKeyValueStore, type KeyValueStore } from "@holdfast/core";
import { isWellFormed } from "@holdfast/core/plugin-kit";
import { scaled } from "@holdfast/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { RemoteFilesystem } from "../../src/filesystem/index.js";
import { fromContentValue, toContentValue } from "../../src/filesystem/remote/content-value.js";
import { fileKey, keyPrefix } from "../../src/filesystem/remote/file-key.js";
import { CHUNK_BYTES, joinBytes, splitBytes } from "../../src/filesystem/remote/split-bytes.js";
import { everyKey, leftovers } from "./remote-cases.js";
import { bytesOf, mine, textOf } from "./sample-files.js";

/** A store whose commands take turns of random length, from a seed: others' commands get in between. */
function unsteady(inner: KeyValueStore, random: () => number): KeyValueStore {
  const late = async <T>(command: () => Promise<T>): Promise<T> => {
    const wait = async () => {
      for (let turns = Math.floor(random() * 6); turns > 0; turns--)
        await new Promise((resolve) => setImmediate(resolve));
    };
    await wait();
    const answer = await command();
    await wait();
    return answer;
  };
  return {
    contract: 1,
    kind: "unsteady",
    reach: "process",
    get: (...args) => late(() => inner.get(...args)),
    getMany: (...args) => late(() => inner.getMany(...args)),
    put: (...args) => late(() => inner.put(...args)),
    delete: (...args) => late(() => inner.delete(...args)),
    list: (...args) => late(() => inner.list(...args)),
  };
}

function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
}

// A record names itself and its length, so that a mix of two versions cannot pass for one.
const record = (kind: "w" | "a", id: number, length: number) =>
  `${kind}${id}:${length}:${String.fromCharCode(97 + (id % 26)).repeat(length)};`;

function isWhole(text: string): boolean {
  let rest = text;
  for (let index = 0; rest !== ""; index++) {
    const [start, kind, id, length] = /^([wa])(\d+):(\d+):/.exec(rest) ?? [];
    if (start === undefined || (kind === "w" && index > 0)) return false;
    const whole = record(kind as "w" | "a", Number(id), Number(length));
    if (!rest.startsWith(whole)) return false;
    rest = rest.slice(whole.length);
  }
  return true;
}

test("whatever nodes do to a file at once, each read is one version, and nothing is left behind", async () => {
  const action = fc.record({
    what: fc.constantFrom("write", "append", "append", "delete", "read", "read", "list"),
    length: fc.constantFrom(0, 100, 3_000, 5_000, 9_000, 300_000),
  });
  const nodes = fc.array(fc.array(action, { minLength: 3, maxLength: 10 }), {
    minLength: 2,
    maxLength: 4,
  });
  let reads = 0;
  await fc.assert(
    fc.asyncProperty(nodes, fc.nat(), async (plans, seed) => {
      const store = new InMemoryKeyValueStore();
      const random = seeded(seed);
      let id = 0;
      await Promise.all(
        plans.map(async (plan) => {
          const files = new RemoteFilesystem({ keyValue: unsteady(store, random) });
          for (const { what, length } of plan) {
            if (what === "read") {
              const text = textOf(await files.read(mine, "f"));
              expect(isWhole(text ?? "")).toBe(true);
              if (text !== null) reads++;
            } else if (what === "list") expect((await files.list(mine)).length).toBeLessThan(2);
            else if (what === "delete") await files.delete(mine, "f");
            else
              await files[what](
                mine,
                "f",
                bytesOf(record(what === "write" ? "w" : "a", id++, length)),
              );
          }
        }),
      );
      const files = new RemoteFilesystem({ keyValue: store });
      expect(isWhole(textOf(await files.read(mine, "f")) ?? "")).toBe(true);
      await files.write(mine, "f", bytesOf(record("w", id, 10_000)));
      expect(await leftovers(store)).toEqual([]);
      await files.delete(mine, "f");
      expect(await everyKey(store)).toEqual([]);
    }),
    { numRuns: scaled(15, 1_000) },
  );
  expect(reads).toBeGreaterThan(20);
});

test("appends of any sizes, one after another, give the file that one write would give", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.uint8Array({ maxLength: 12 }), { maxLength: 30 }),
      fc.integer({ min: 1, max: 9_000 }),
      async (pieces, times) => {
        const files = new RemoteFilesystem({ keyValue: new InMemoryKeyValueStore() });
        const all: Uint8Array[] = [];
        for (const piece of pieces) {
          const bytes = joinBytes(Array(times).fill(piece));
          await files.append(mine, "f", bytes);
          all.push(bytes);
        }
        const read = (await files.read(mine, "f")) ?? new Uint8Array();
        expect(Buffer.compare(read, joinBytes(all))).toBe(0);
      },
    ),
    { numRuns: scaled(15, 300) },
  );
});

test("any bytes survive the way through JSON", () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 50 }),
    fc
      .string({ unit: fc.constantFrom("a", "\0", "\n", "ü", "\ufeff", "\u2028", "漢", "🌤") })
      .map(bytesOf),
  );
  fc.assert(
    fc.property(bytes, (original) => {
      const value = JSON.parse(JSON.stringify(toContentValue(original)));
      const back = fromContentValue(value, original.length, "it");
      expect(Buffer.compare(back, original)).toBe(0);
    }),
  );
});

test("pieces are never too large, never empty, and together the whole; text is not cut within a character", () => {
  const units = fc.constantFrom("a", "ü", "漢", "🌤");
  const sizes = fc.integer({ min: CHUNK_BYTES - 5, max: CHUNK_BYTES + 5 });
  fc.assert(
    fc.property(fc.array(units, { minLength: 1, maxLength: 6 }), sizes, (pattern, size) => {
      const unit = pattern.join("");
      const bytes = bytesOf(unit.repeat(Math.ceil((2 * size) / bytesOf(unit).length)));
      const pieces = splitBytes(bytes);
      expect(pieces.every(({ length }) => length > 0 && length <= CHUNK_BYTES)).toBe(true);
      expect(Buffer.compare(joinBytes(pieces), bytes)).toBe(0);
      expect(pieces.every((piece) => "text" in toContentValue(piece))).toBe(true);
    }),
    { numRuns: 30 },
  );
  const binary = new Uint8Array(CHUNK_BYTES * 2 + 1).fill(0x80);
  expect(splitBytes(binary).map(({ length }) => length)).toEqual([CHUNK_BYTES, CHUNK_BYTES, 1]);
});

test("different paths have different keys, and a directory's prefix is one of every key below it", () => {
  const segment = fc.string({
    unit: fc.constantFrom("a", "b", "🌤", "漢"),
    minLength: 1,
    maxLength: 300,
  });
  const path = fc
    .array(segment, { minLength: 1, maxLength: 8 })
    .map((segments) => segments.join("/"));
  fc.assert(
    fc.property(path, path, (one, two) => {
      expect(fileKey(one) === fileKey(two)).toBe(one === two);
      expect(fileKey(`${one}/${two}`).startsWith(keyPrefix(one))).toBe(true);
      expect(fileKey(one).length).toBeLessThanOrEqual(1_024);
      expect(isWellFormed(fileKey(one)) && isWellFormed(keyPrefix(one))).toBe(true);
    }),
  );
});
