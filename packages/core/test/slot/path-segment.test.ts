import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { id, runs } from "../arbitraries.js";
import { pathSegment } from "../values.js";

/** Everything a file system may do to a name before it compares: fold case, normalise, strip trailing dots. */
function asStored(name: string): string {
  return name
    .normalize("NFKC")
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .replace(/[. ]+$/, "");
}

describe("a path segment", () => {
  test("differs for different ids also where case is folded and Unicode normalised", () => {
    fc.assert(
      fc.property(id, id, (a, b) => {
        expect(asStored(pathSegment(a)) === asStored(pathSegment(b))).toBe(a === b);
      }),
      runs(5_000),
    );
  });

  test("differs for long ids that begin alike", () => {
    fc.assert(
      fc.property(fc.array(id, { minLength: 2, maxLength: 4 }), (tails) => {
        const ids = [...new Set(tails.map((tail) => `${"x".repeat(140)}${tail}`.slice(0, 255)))];
        expect(new Set(ids.map((long) => asStored(pathSegment(long)))).size).toBe(ids.length);
      }),
      runs(1_000),
    );
  });

  test("is one safe name on POSIX and on Windows", () => {
    fc.assert(
      fc.property(id, (value) => {
        const name = pathSegment(value);
        expect(name).toMatch(/^[a-z0-9_%~-]{1,200}$/);
        expect(name).not.toMatch(/^(con|prn|aux|nul|com\d|lpt\d|conin\$|conout\$|clock\$)(\.|$)/i);
      }),
      runs(3_000),
    );
  });

  test("stays readable for plain ids", () => {
    expect(pathSegment("alice-2026_06")).toBe("alice-2026_06");
    expect(pathSegment("Alice")).toBe("%41lice");
    expect(pathSegment("con")).toBe("%63on");
    expect(pathSegment("..")).toBe("%2e%2e");
  });

  test("can be read back as long as it was not cut", () => {
    fc.assert(
      fc.property(id, (value) => {
        const name = pathSegment(value);
        if (!name.includes("~")) expect(decodeURIComponent(name)).toBe(value);
      }),
      runs(2_000),
    );
  });
});
