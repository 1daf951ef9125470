import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { TimeSlice } from "../src/log/time-slice.js";
import { createKernel, WINDOW_BYTES } from "../src/scan/kernel.js";
import { probeOf } from "../src/scan/probe.js";
import { scanInTurns } from "../src/scan/scan-in-turns.js";
import { scanNow } from "../src/scan/scan-now.js";
import type { ScanRange } from "../src/scan/scan-range.js";
import { temporaryRoot } from "./temporary-root.js";

const kernel = createKernel();
const probe = probeOf("Needle");
const header = "a header with a needle\n";

test("a match is found wherever windows and ranges end, once", async () => {
  const path = join(temporaryRoot(), "log");
  const places = [-9, -6, -5, -1, 0, 1, 6].flatMap((near) => [
    WINDOW_BYTES + near,
    2 * WINDOW_BYTES + near,
  ]);
  for (const place of places) {
    const text = `${header}${"x".repeat(place - header.length)}NEEDLE${"x".repeat(place)}\n`;
    writeFileSync(path, text);
    for (let cut = place - 1; cut <= place + 7; cut++) {
      const ranges = [rangeOf(path, 0, cut), rangeOf(path, cut, text.length)];
      const found = ranges.flatMap((range) => [...scanNow(kernel, probe, range).matches]);
      expect(found, `${place} cut at ${cut}`).toHaveLength(1);
      expect(text.slice(place, found[0]).length).toBeLessThan(6);
      const slice = new TimeSlice(undefined);
      for (const range of ranges)
        expect(await scanInTurns(kernel, probe, range, slice)).toEqual(
          scanNow(kernel, probe, range),
        );
    }
  }
});

test("the first line of a file is no record, however long it is", () => {
  const path = join(temporaryRoot(), "log");
  const long = `${"x".repeat(WINDOW_BYTES)} needle`;
  writeFileSync(path, `${long}\nneedle\n`);
  const { matches } = scanNow(kernel, probe, rangeOf(path, 0, long.length + 8));
  expect([...matches].filter((at) => at < long.length)).toEqual([]);
  expect(matches).toHaveLength(1);
});

test("of a line with many matches, and of a file of a long text, one is enough", () => {
  const path = join(temporaryRoot(), "log");
  const text = `\n${"needle ".repeat(30_000)}\nneedle\n`;
  writeFileSync(path, text);
  const lines = scanNow(kernel, probe, rangeOf(path, 0, text.length)).matches;
  expect(lines.length).toBeGreaterThanOrEqual(2);
  // One more where a window ends.
  expect(lines.length).toBeLessThan(8);
  expect(
    scanNow(kernel, probe, { ...rangeOf(path, 0, text.length), seek: "blob" }).matches,
  ).toHaveLength(1);
});

test("lines that name long texts are found apart from those that match", () => {
  const path = join(temporaryRoot(), "log");
  const lines = [
    "header",
    "needle",
    'x,"blobs":[{"path":[]}]',
    'needle,"blobs":[{',
    '\\"blobs\\":[{',
  ];
  const text = lines.join("\n");
  writeFileSync(path, text);
  const range = rangeOf(path, 0, text.length);
  const { matches, blobLines } = scanNow(kernel, probe, { ...range, seek: "lines_and_blobs" });
  const lineOf = (at: number) => text.slice(0, at).split("\n").length - 1;
  expect([...matches].map(lineOf)).toEqual([1, 3]);
  expect([...blobLines].map(lineOf)).toEqual([2, 3]);
  expect(scanNow(kernel, probe, range).blobLines).toHaveLength(0);
});

test("a file that is gone, or shorter than it was, holds nothing more", async () => {
  const directory = temporaryRoot();
  const path = join(directory, "log");
  writeFileSync(path, `${header}needle`);
  const slice = new TimeSlice(undefined);
  for (const [file, count] of [
    [path, 1],
    [join(directory, "gone"), 0],
  ] as const) {
    const range = rangeOf(file, 0, 1_000_000);
    expect(scanNow(kernel, probe, range).matches).toHaveLength(count);
    expect((await scanInTurns(kernel, probe, range, slice)).matches).toHaveLength(count);
  }
});

function rangeOf(path: string, from: number, to: number): ScanRange {
  return { path, from, to, seek: "lines" };
}
