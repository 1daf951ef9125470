import { type ChangeLedger, changesSince, isForked, nextRevision } from "@holdfast/core/store-kit";
import { expect, test } from "vitest";
import { readChanges as readColumn } from "../../src/state/change-column.js";
import { leadingTo } from "../../src/state/ledger-rows.js";
import { shortRevision } from "../../src/state/revision-mark.js";

// Their numbers begin anew in the column.
const revisions = [131_070, 131_071, 131_072].map((seq) =>
  nextRevision(`${seq}.${"0".repeat(32)}`),
);
const [first, second, third] = revisions as [string, string, string];

/** An entry as a save writes it. */
function entry(revision: string, keep: number, replaced: readonly number[] = []): Buffer {
  const [seq = "", token = ""] = revision.split(".");
  const bytes = Buffer.alloc(12 + 3 * replaced.length);
  bytes.writeUInt16BE(Number(seq) % 65_536, 0);
  bytes.write(token.slice(0, 12), 2, "hex");
  bytes.writeUIntBE(keep, 8, 3);
  bytes.writeUInt8(replaced.length, 11);
  for (const [index, pos] of replaced.entries()) bytes.writeUIntBE(pos, 12 + 3 * index, 3);
  return bytes;
}

const tag = Buffer.from("lease");
const column = Buffer.concat([
  tag.subarray(0, 4),
  entry(third, 5, [1, 4]),
  entry(second, 7),
  entry(first, 0),
]);

function readChanges(bytes: Buffer, present: string): ChangeLedger {
  return leadingTo(present, readColumn(bytes, present));
}

function since(ledger: ChangeLedger, known: string) {
  return changesSince(ledger, shortRevision(known));
}

test("a ledger leads from each of its revisions to the last", () => {
  const ledger = readChanges(column, third);
  expect(since(ledger, first)).toEqual({ keep: 5, replaced: [1, 4] });
  expect(since(ledger, second)).toEqual({ keep: 5, replaced: [1, 4] });
  expect(since(ledger, third)).toBe(undefined);
});

test("an entry that was cut off is as if it were not there", () => {
  const last = column.length - 12;
  for (let end = 0; end < column.length; end++) {
    const ledger = readChanges(column.subarray(0, end), third);
    expect(since(ledger, first)).toBe(undefined);
    expect(since(ledger, second) !== undefined).toBe(end >= last);
  }
});

test("a ledger that does not lead to the stored revision leads nowhere", () => {
  expect(readChanges(column, second)).toEqual([]);
  expect(readChanges(column, `4.${"1".repeat(32)}`)).toEqual([]);
  expect(readChanges(column, "of another store")).toEqual([]);
  expect(readChanges(Buffer.alloc(0), first)).toEqual([]);
});

test("another revision with the number of one in the ledger is of another history, an older one is not", () => {
  const ledger = readChanges(column, third);
  const forked = (seq: number) => isForked(ledger, shortRevision(`${seq}.${"1".repeat(32)}`));
  expect([131_071, 131_072, 131_073].map(forked)).toEqual([true, true, true]);
  expect([131_070, 131_074, 131_072 - 65_536, 3].map(forked)).toEqual(Array(4).fill(false));
});
