import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import {
  ConfigurationError,
  InvalidIdError,
  InvalidInputError,
  StateCorruptError,
  StateTooLargeError,
} from "../../src/index.js";
import {
  checkDirectoryPath,
  checkFilePath,
  nearestName,
  parseOptions,
} from "../../src/plugin-kit/index.js";
import {
  applyWrite,
  checkKey,
  checkLimit,
  checkValue,
  checkWrite,
  isRolledBack,
  MAX_KEY_LENGTH,
  MAX_VALUE_BYTES,
  matchSlot,
  namespaceText,
  nextRevision,
  type OpLedger,
  REMEMBERED_OPS,
  revisionOfOp,
  revisionSeq,
  withOp,
} from "../../src/store-kit/index.js";

describe("a write", () => {
  test("keeps, replaces and appends, and leaves what was stored as it is", () => {
    const stored = ["a", "b", "c"];
    expect(applyWrite(stored, { keep: 2, replace: [[0, "A"]], append: ["d"] })).toEqual([
      "A",
      "b",
      "d",
    ]);
    expect(stored).toEqual(["a", "b", "c"]);
  });

  test.each([
    { keep: 4, replace: [], append: [] },
    { keep: -1, replace: [], append: [] },
    { keep: 1.5, replace: [], append: [] },
    { keep: Number.NaN, replace: [], append: [] },
    { keep: 2, replace: [[2, "x"] as const], append: [] },
    { keep: 2, replace: [[-1, "x"] as const], append: [] },
  ])("that does not fit is refused: %j", (write) => {
    const slot = { agentId: "a", userId: null, sessionId: "s" };
    expect(() => applyWrite(["a", "b", "c"], write)).toThrow(StateCorruptError);
    expect(() => applyWrite(["a", "b", "c"], write, slot)).toThrow(/session "s" of anonymous user/);
    expect(() => checkWrite(write, 3)).toThrow(StateCorruptError);
    expect(() => checkWrite(write, 3, slot)).toThrow(/session "s" of anonymous user/);
  });

  test("is checked without the messages exactly as with them", () => {
    const index = fc.constantFrom(-1, 0, 1, 2, 3, 1.5, Number.NaN);
    const write = fc.record({
      keep: fc.constantFrom(-1, 0, 1, 2, 3, 1.5, Number.NaN, 2 ** 60),
      replace: fc.array(fc.tuple(index, fc.constant("x")), { maxLength: 2 }),
      append: fc.constant([]),
    });
    const refusal = (run: () => unknown): string | null => {
      try {
        run();
        return null;
      } catch (error) {
        return String(error);
      }
    };
    fc.assert(
      fc.property(write, fc.nat({ max: 3 }), (each, count) => {
        const stored = Array.from({ length: count }, () => "stored");
        expect(refusal(() => checkWrite(each, count))).toBe(
          refusal(() => applyWrite(stored, each)),
        );
      }),
    );
  });

  test("that does not fit as many messages as it keeps fits no state", () => {
    const replace = [[2, "x"] as const];
    expect(() => checkWrite({ keep: 3, replace }, 3)).not.toThrow();
    expect(() => checkWrite({ keep: 2, replace }, 2)).toThrow(
      /replaces message 2 but keeps only 2/,
    );
    expect(() => checkWrite({ keep: Number.NaN, replace: [] }, Number.NaN)).toThrow(
      StateCorruptError,
    );
  });
});

describe("revisions", () => {
  test("count up and never repeat", () => {
    const seen = new Set<string>();
    let revision: string | null = null;
    for (let seq = 1; seq <= 100; seq++) {
      revision = nextRevision(revision);
      expect(revisionSeq(revision)).toBe(seq);
      seen.add(revision).add(nextRevision(null));
    }
    expect(seen.size).toBe(200);
  });

  test("tell a store that ran back from one that went on", () => {
    expect(isRolledBack("5.a", "4.x")).toBe(true);
    expect(isRolledBack("5.a", "5.x")).toBe(true);
    expect(isRolledBack("5.a", "5.a")).toBe(false);
    expect(isRolledBack("5.a", "6.x")).toBe(false);
  });
});

test("a ledger knows exactly the last 16 saves", () => {
  let ledger: OpLedger = [];
  for (let op = 0; op < 40; op++) ledger = withOp(ledger, `op-${op}`, `${op}.r`);
  for (let op = 0; op < 40; op++)
    expect(revisionOfOp(ledger, `op-${op}`)).toBe(op < 40 - REMEMBERED_OPS ? undefined : `${op}.r`);
});

describe("keys and namespaces", () => {
  test("two different namespaces never have the same text, however one string is cut into parts", () => {
    const text = fc.string({
      unit: fc.constantFrom("a", "/", ":", "1", "2"),
      minLength: 1,
      maxLength: 8,
    });
    const cuts = fc.array(fc.boolean(), { minLength: 8, maxLength: 8 });
    const cutAt = (whole: string, at: readonly boolean[]): string[] => {
      const parts = [""];
      for (const [index, unit] of [...whole].entries())
        if (index > 0 && at[index]) parts.push(unit);
        else parts[parts.length - 1] += unit;
      return parts;
    };
    fc.assert(
      fc.property(text, cuts, cuts, (whole, first, second) => {
        const [a, b] = [cutAt(whole, first), cutAt(whole, second)];
        const same = a.length === b.length && a.every((part, index) => part === b[index]);
        expect(namespaceText(a) === namespaceText(b)).toBe(same);
      }),
      { numRuns: 500 },
    );
  });

  test.each([[""], ["\ud800"], ["x".repeat(MAX_KEY_LENGTH + 1)], [0], [null], [{}], [undefined]])(
    "%j is no key and no part of a namespace",
    (key) => {
      expect(() => checkKey(key)).toThrow(InvalidIdError);
      expect(() => namespaceText(["ok", key as string])).toThrow(InvalidIdError);
    },
  );

  test("a key may be 1,024 units long; a namespace needs a part", () => {
    expect(checkKey("x".repeat(MAX_KEY_LENGTH))).toHaveLength(MAX_KEY_LENGTH);
    expect(() => namespaceText([])).toThrow(InvalidIdError);
    expect(() => namespaceText("ab" as never)).toThrow(InvalidIdError);
  });

  test("a value may have 1 MB as JSON, and not one byte more", () => {
    const fits = "x".repeat(MAX_VALUE_BYTES - 2);
    expect(Buffer.byteLength(checkValue("key", fits))).toBe(MAX_VALUE_BYTES);
    expect(() => checkValue("key", `${fits}x`)).toThrow(StateTooLargeError);
    expect(() => checkValue("key", "é".repeat(MAX_VALUE_BYTES / 2))).toThrow(StateTooLargeError);
  });

  test("a value JSON cannot hold is refused", () => {
    expect(() => checkValue("key", Number.NaN)).toThrow(InvalidInputError);
    expect(() => checkValue("key", undefined as never)).toThrow(InvalidInputError);
  });
});

describe("paths", () => {
  test.each(["/etc/passwd", "..", "a/../b", "a/..", "../a", "a\0b", "\ud800"])(
    "%j is refused",
    (path) => {
      expect(() => checkFilePath(path)).toThrow(InvalidInputError);
      expect(() => checkDirectoryPath(path)).toThrow(InvalidInputError);
    },
  );

  test.each(["", ".", "./", "a/"])("%j names no file but may name a directory", (path) => {
    expect(() => checkFilePath(path)).toThrow(InvalidInputError);
    expect(checkDirectoryPath(path)).toBe(path.startsWith("a") ? "a" : "");
  });

  test("different spellings of one file become one", () => {
    for (const path of ["a/b", "./a/b", "a//b", "a/./b"]) expect(checkFilePath(path)).toBe("a/b");
    expect(checkFilePath("...")).toBe("...");
    expect(checkFilePath("a/..b")).toBe("a/..b");
  });

  test("no accepted path leaves its directory", () => {
    const wild = fc.string({ unit: fc.constantFrom(".", "/", "a", "\\"), maxLength: 12 });
    fc.assert(
      fc.property(wild, (path) => {
        let plain: string;
        try {
          plain = checkFilePath(path);
        } catch {
          return;
        }
        for (const segment of plain.split("/")) expect(["", ".", ".."]).not.toContain(segment);
      }),
      { numRuns: 1_000 },
    );
  });
});

test("a limit is a whole number of at least 1, or the default", () => {
  expect(checkLimit(undefined, 7)).toBe(7);
  expect(checkLimit(1, 7)).toBe(1);
  for (const limit of [0, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY])
    expect(() => checkLimit(limit, 7)).toThrow(InvalidInputError);
});

test("a slot query tells the anonymous user from none, and refuses ids that cannot exist", () => {
  const anonymous = { agentId: "a", userId: null, sessionId: "s" };
  const named = { agentId: "a", userId: "u", sessionId: "s" };
  expect([anonymous, named].map(matchSlot({}))).toEqual([true, true]);
  expect([anonymous, named].map(matchSlot({ userId: null }))).toEqual([true, false]);
  expect([anonymous, named].map(matchSlot({ userId: "u" }))).toEqual([false, true]);
  expect([anonymous, named].map(matchSlot({ agentId: "b" }))).toEqual([false, false]);
  expect(() => matchSlot({ userId: "" })).toThrow(InvalidIdError);
});

test("wrong options are all reported, each with its name, value and what is accepted", () => {
  const schema = z.strictObject({ retries: z.int().min(1), mode: z.enum(["a", "b"]) });
  expect(parseOptions(schema, { retries: 2, mode: "a" }, "part")).toEqual({
    retries: 2,
    mode: "a",
  });
  let error: unknown;
  try {
    parseOptions(schema, { retries: 0, mode: "c", other: 1 }, "part");
  } catch (thrown) {
    error = thrown;
  }
  expect(ConfigurationError.is(error) && error.problems).toEqual([
    expect.stringMatching(/^part: option retries is 0: .*1/),
    expect.stringMatching(/^part: option mode is "c": .*"a"\|"b"/),
    expect.stringMatching(/^part: .*other/),
  ]);
});

test("an unknown option is named with the nearest there is, at every depth", () => {
  const inner = z.strictObject({ maxBytes: z.int().optional() });
  const schema = z
    .strictObject({
      model: z.string().optional(),
      one: inner.prefault({}),
      list: z.array(inner).readonly().optional(),
      named: z.record(z.string(), inner).optional(),
      read: z.preprocess((value) => value, inner.nullable()).optional(),
    })
    .superRefine(({ model }, context) => {
      if (model === "") context.addIssue({ code: "custom", message: "set a model or none" });
    });
  const problems = (options: object): readonly string[] => {
    try {
      parseOptions(schema, options, "part");
    } catch (error) {
      if (ConfigurationError.is(error)) return error.problems;
    }
    return [];
  };
  expect(problems({ modle: "m", zzz: 1 })).toEqual([
    'part: unknown option "modle"; did you mean model?',
    'part: unknown option "zzz"; there are model, one, list, named, read',
  ]);
  const wrong = { maxByte: 1 };
  expect(problems({ one: wrong, list: [wrong], named: { a: wrong }, read: wrong })).toEqual(
    ["one", "list.0", "named.a", "read"].map(
      (path) => `part: ${path}: unknown option "maxByte"; did you mean maxBytes?`,
    ),
  );
  expect(problems({ model: "" })).toEqual(["part: set a model or none"]);
});

test.each([
  ["modle", "model"],
  ["mdoel", "model"],
  ["MODEL", "model"],
  ["max_iteration", "maxIterations"],
  ["temperature", undefined],
])("the name nearest to %s is %s", (name, nearest) => {
  expect(nearestName(name, ["name", "model", "maxIterations", "tools"])).toBe(nearest);
});
