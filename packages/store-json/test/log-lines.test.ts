import { writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { scaled } from "@holdfast/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { blocksBackward, linesBackward, linesForward } from "../src/log/log-lines.js";
import { temporaryRoot } from "./temporary-root.js";

const file = fc
  .array(fc.constantFrom("a", "é", "中", "🙂", "\n", "\n", "\r", "x".repeat(50)), { maxLength: 60 })
  .map((pieces) => Buffer.from(pieces.join("")));

test("blocks hold whole lines and every byte once, wherever reads end", async () => {
  const path = join(temporaryRoot(), "log");
  await fc.assert(
    fc.asyncProperty(file, fc.integer({ min: 1, max: 80 }), async (content, firstBytes) => {
      writeFileSync(path, content);
      await using handle = await open(path);
      let next = content.length;
      for await (const { start, bytes } of blocksBackward(handle, 0, next, firstBytes)) {
        expect(bytes).toEqual(content.subarray(start, next));
        expect(start === 0 || content[start - 1] === 10).toBe(true);
        next = start;
      }
      expect(next).toBe(0);
    }),
    { numRuns: scaled(100, 5_000) },
  );
});

test("lines are the same forward and backward, with their offsets", async () => {
  const path = join(temporaryRoot(), "log");
  await fc.assert(
    fc.asyncProperty(file, async (content) => {
      writeFileSync(path, content);
      await using handle = await open(path);
      const backward = [];
      for await (const lines of linesBackward(handle, 0, content.length)) backward.push(...lines);
      const forward = [];
      for await (const lines of linesForward(handle, 0, content.length)) forward.push(...lines);
      expect(backward.reverse()).toEqual(forward);
      expect(forward.map(({ bytes }) => bytes.toString())).toEqual(
        content.toString().split("\n").filter(Boolean),
      );
      for (const { start, bytes, ended } of forward) {
        expect(bytes).toEqual(content.subarray(start, start + bytes.length));
        expect(ended).toBe(content[start + bytes.length] === 10);
      }
    }),
    { numRuns: scaled(40, 1_000) },
  );
});

test("a file that has become shorter ends where it ends", async () => {
  const path = join(temporaryRoot(), "log");
  writeFileSync(path, "one\ntwo\nthr");
  await using handle = await open(path);
  for (const firstBytes of [3, 8, 100]) {
    const found: string[] = [];
    for await (const { bytes } of blocksBackward(handle, 0, 40, firstBytes))
      found.unshift(bytes.toString());
    expect(found.join("")).toBe("one\ntwo\nthr");
  }
});
