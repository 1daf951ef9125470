import type { DataBlock } from "@holdfast/core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { WorkspaceOffloader } from "../../src/offload/workspace-offloader.js";
import { readWhole } from "./read-whole.js";
import { ada, put, toolBench } from "./tool-bench.js";

type Bench = ReturnType<typeof toolBench>;

async function bytesOf(bench: Bench, path: string): Promise<Buffer> {
  const read = (request: object) => bench.use("read_file", { ...request, base64: true });
  return Buffer.from(await readWhole(read, path), "base64");
}

describe("data that was moved out of a context and cannot be shown", () => {
  const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const noise = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * 7919) % 256));

  test.each([
    ["an image that is too large", "image/png", Buffer.concat([png, noise, noise, noise])],
    ["something that is no image", "image/png", noise],
    ["bytes of an unknown type", "application/octet-stream", noise],
    ["text that is not UTF-8", "text/csv", Buffer.from("caf\xe9;1\n", "latin1")],
  ])("is read back whole: %s", async (_, mediaType, bytes) => {
    const bench = toolBench();
    const data = bytes.toString("base64");
    const block: DataBlock = { type: "data", mediaType, source: { kind: "base64", data } };
    const { filesystem } = bench;
    const { reference } = await new WorkspaceOffloader({ filesystem }).offloadData(ada, block);
    const { text } = await bench.use("read_file", { path: reference });
    expect(text).toContain("base64");
    expect((await bytesOf(bench, reference)).equals(bytes)).toBe(true);
  });
});

test("pages of base64 keep to the limits and are the file, whatever it is", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ maxLength: 5_000 }),
      fc.integer({ min: 1, max: 30 }),
      async (bytes, maxReadLines) => {
        const bench = toolBench({ maxReadLines, maxReadBytes: 1_024 });
        await put(bench.filesystem, "a.bin", bytes);
        const pages: string[] = [];
        const read = (request: object) => bench.use("read_file", { ...request, base64: true });
        const whole = await readWhole(read, "a.bin", (page) => pages.push(page));
        expect(Buffer.from(whole, "base64").equals(bytes)).toBe(true);
        for (const page of pages) {
          expect(page.length).toBeLessThanOrEqual(1_024);
          expect(page.split("\n").length).toBeLessThanOrEqual(maxReadLines);
        }
      },
    ),
    { numRuns: 50 },
  );
});

test("a line of base64 that is not there is said so", async () => {
  const bench = toolBench();
  await put(bench.filesystem, "a.bin", Uint8Array.from([0xff]));
  const { text, isError } = await bench.use("read_file", {
    path: "a.bin",
    base64: true,
    offset: 2,
  });
  expect([isError, text]).toEqual([true, '"a.bin" has 1 lines; there is no line 2.']);
});
