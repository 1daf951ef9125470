import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { jsonValue, objectOf, runs } from "../arbitraries.js";
import {
  deepFreeze,
  InvalidInputError,
  isDeeperThan,
  isRecord,
  type JsonValue,
  MAX_JSON_DEPTH,
  toJsonValue,
} from "../values.js";

/** `levels` arrays inside each other, with `core` in the innermost. */
function nested(levels: number, ...core: unknown[]): unknown {
  let value: unknown = core;
  for (let level = 1; level < levels; level++) value = [value];
  return value;
}

class Wrapped {
  readonly #value: unknown;
  constructor(value: unknown) {
    this.#value = value;
  }
  toJSON(): unknown {
    return this.#value;
  }
}

function isFrozenThroughout(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  return Object.isFrozen(value) && Object.values(value).every(isFrozenThroughout);
}

function refusalOf(value: unknown): string {
  try {
    toJsonValue(value, "it");
  } catch (error) {
    expect(InvalidInputError.is(error)).toBe(true);
    return (error as Error).message;
  }
  throw new Error("not refused");
}

describe("toJsonValue", () => {
  test("gives what a trip through JSON gives, for everything JSON can hold", () => {
    const loose = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        jsonValue,
        fc.constantFrom(undefined, -0, new Date(0), new Date(Number.NaN)),
        fc.sparseArray(tie("value"), { maxLength: 4, maxNumElements: 3 }),
        objectOf(tie("value")),
        tie("value").map((value) => new Wrapped(value)),
      ),
    })).value;
    fc.assert(
      fc.property(loose, (value) => {
        const text = JSON.stringify(value) as string | undefined;
        if (text === undefined) expect(refusalOf(value)).toContain("it is undefined");
        else expect(isDeepStrictEqual(toJsonValue(value, "it"), JSON.parse(text))).toBe(true);
      }),
      runs(3_000),
    );
  });

  test("gives a copy that is frozen throughout and leaves the original alone", () => {
    fc.assert(
      fc.property(jsonValue, (value) => {
        const before = structuredClone(value);
        const copy = toJsonValue(value, "it");
        expect(isFrozenThroughout(copy)).toBe(true);
        expect(isDeepStrictEqual(value, before)).toBe(true);
        if (typeof value === "object" && value !== null) {
          expect(copy).not.toBe(value);
          expect(Object.isFrozen(value)).toBe(false);
        }
      }),
      runs(1_000),
    );
  });

  test("asks toJSON once, as JSON.stringify does", () => {
    class Self {
      readonly kept = 1;
      toJSON() {
        return this;
      }
    }
    expect(toJsonValue({ self: new Self() }, "it")).toEqual({ self: { kept: 1 } });
  });

  test("keeps a __proto__ key as a property and changes no prototype", () => {
    const copy = toJsonValue(JSON.parse('{"__proto__":{"polluted":true}}'), "it") as object;
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
    expect(Object.hasOwn(copy, "__proto__")).toBe(true);
    expect(JSON.stringify(copy)).toBe('{"__proto__":{"polluted":true}}');
    expect("polluted" in {}).toBe(false);
  });

  test.each([
    [Number.NaN, "it.a[1] is NaN"],
    [Number.POSITIVE_INFINITY, "it.a[1] is Infinity"],
    [1n, "it.a[1] is a bigint"],
    [Symbol("s"), "it.a[1] is a symbol"],
    [() => 1, "it.a[1] is a function"],
  ])("refuses %s and says where it stands", (value, message) => {
    expect(refusalOf({ a: [0, value] })).toContain(message);
  });

  test("refuses undefined only where JSON would have nothing to write", () => {
    expect(refusalOf(undefined)).toContain("it is undefined");
    expect(toJsonValue([undefined, { a: undefined }], "it")).toEqual([null, {}]);
  });

  test("refuses cycles, however they branch", () => {
    const cycle: unknown[] = [];
    cycle.push(cycle, cycle);
    expect(refusalOf(cycle)).toContain("nested deeper");
    const keyed: Record<string, unknown> = {};
    keyed["key ".repeat(50)] = keyed;
    expect(refusalOf(keyed).length).toBeLessThan(300);
  });

  test("accepts 256 levels and refuses 257, whatever is in the innermost", () => {
    for (const core of [[], ["text"], [null, {}.toString()]]) {
      expect(() => toJsonValue(nested(MAX_JSON_DEPTH, ...core), "it")).not.toThrow();
      expect(refusalOf(nested(MAX_JSON_DEPTH + 1, ...core))).toContain("deeper than 256 levels");
    }
    expect(refusalOf(nested(100_000))).toContain("deeper than 256 levels");
  });
});

describe("isDeeperThan", () => {
  const depthOf = (value: JsonValue): number =>
    typeof value === "object" && value !== null
      ? 1 + Math.max(0, ...Object.values(value).map(depthOf))
      : 0;

  test("counts the objects and arrays that stand inside each other", () => {
    fc.assert(
      fc.property(jsonValue, fc.integer({ min: 0, max: 6 }), (value, limit) => {
        expect(isDeeperThan(value, limit)).toBe(depthOf(value) > limit);
      }),
      runs(2_000),
    );
  });

  test("draws the line where toJsonValue draws it", () => {
    for (const levels of [MAX_JSON_DEPTH - 1, MAX_JSON_DEPTH, MAX_JSON_DEPTH + 1])
      for (const core of [[], [1], [{}]]) {
        const value = nested(levels, ...core);
        const deep = isDeeperThan(value, MAX_JSON_DEPTH);
        if (deep) refusalOf(value);
        else toJsonValue(value, "it");
      }
  });

  test("takes a hundred thousand levels without overflowing the stack", () => {
    expect(isDeeperThan(JSON.parse("[".repeat(100_000) + "]".repeat(100_000)), 256)).toBe(true);
  });
});

test("deepFreeze reaches what stands inside something already frozen", () => {
  const value = Object.freeze({ list: [{ a: 1 }] });
  expect(deepFreeze(value)).toBe(value);
  expect(isFrozenThroughout(value)).toBe(true);
});

test("isRecord says no to null and to lists", () => {
  expect([{}, Object.create(null)].every(isRecord)).toBe(true);
  expect([null, undefined, [], "a", 1, () => 1].some(isRecord)).toBe(false);
});

test.each([new Map([["a", 1]]), new Set([1])])(
  "refuses a %s, of which JSON would keep nothing",
  (value) => {
    expect(() => toJsonValue({ value }, "x")).toThrow(
      /x\.value is a (Map|Set), which JSON cannot hold/,
    );
  },
);
