import { InvalidInputError } from "@holdfast/core";
import { nextRevision, REMEMBERED_OPS } from "@holdfast/core/store-kit";
import fc from "fast-check";
import { expect, test } from "vitest";
import { opEntry, RING_BYTES, revisionInRing } from "../../src/state/op-ring.js";

test("the ring gives back the revision of each of the last ops, whatever their names", () => {
  const save = fc.tuple(fc.string({ minLength: 1 }), fc.nat(2 ** 31));
  fc.assert(
    fc.property(fc.uniqueArray(save, { selector: ([op]) => op, maxLength: 40 }), (saves) => {
      let ring = Buffer.alloc(0);
      const done: [string, string][] = [];
      for (const [op, seq] of saves) {
        const revision = nextRevision(`${seq}.${"0".repeat(32)}`);
        ring = Buffer.concat([opEntry(op, revision), ring]).subarray(0, RING_BYTES);
        done.unshift([op, revision]);
      }
      for (const [index, [op, revision]] of done.entries())
        expect(revisionInRing(ring, op)).toBe(index < REMEMBERED_OPS ? revision : undefined);
      expect(revisionInRing(ring, "never saved, and longer than any")).toBe(undefined);
    }),
  );
});

test.each(["", "1", "1.x", `01.${"0".repeat(32)}`, `1.${"0".repeat(31)}`, `-1.${"0".repeat(32)}`])(
  "a revision like %j is refused",
  (revision) => {
    expect(() => opEntry("op", revision)).toThrow(InvalidInputError);
  },
);
