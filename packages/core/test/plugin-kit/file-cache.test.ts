import { FileCache, type FileInfo } from "@holdfast/core/plugin-kit";
import { expect, test } from "vitest";

const info = (path: string, bytes = 1, modifiedAt = "2026-01-01T00:00:00.000Z"): FileInfo => ({
  path,
  kind: "file",
  bytes,
  modifiedAt,
});

test("a value is derived again when the size or time of its file changed, or the time is very recent", async () => {
  const cache = new FileCache<number>();
  let found = 0;
  const ask = (file: FileInfo) => cache.get(file, async () => ++found);
  expect([await ask(info("a")), await ask(info("a"))]).toEqual([1, 1]);
  expect([await ask(info("a", 2)), await ask(info("a", 2))]).toEqual([2, 2]);
  expect(await ask(info("a", 2, "2026-01-02T00:00:00.000Z"))).toBe(3);
  const young = info("a", 2, new Date(Date.now() + 3_600_000).toISOString());
  expect([await ask(young), await ask(young)]).toEqual([4, 5]);
  const undated = info("a", 2, "");
  expect([await ask(undated), await ask(undated)]).toEqual([6, 7]);
});

test("no more is cached than allowed, and the oldest entry is dropped first", async () => {
  const cache = new FileCache<string>(2);
  const found: string[] = [];
  for (const path of ["a", "b", "c", "b", "c", "a"])
    await cache.get(info(path), async () => {
      found.push(path);
      return path;
    });
  expect(found).toEqual(["a", "b", "c", "a"]);
});
