import fc from "fast-check";

class Odd {
  readonly field = 1;
  toJSON(): unknown {
    return "odd";
  }
}

function nested(levels: number): unknown {
  let value: unknown = "bottom";
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { value };
  return value;
}

function circular(): unknown {
  const value: Record<string, unknown> = { tasks: [], allow: [] };
  value["self"] = value;
  return value;
}

/** Values that careless code stores, or fails on. Made anew each time: a test may change them. */
const oddities: readonly (() => unknown)[] = [
  () => undefined,
  () => Number.NaN,
  () => Number.POSITIVE_INFINITY,
  () => -0,
  () => 10n,
  () => Symbol("s"),
  () => () => "function",
  () => Odd,
  () => new Odd(),
  () => new Date(Number.NaN),
  () => new Map([["a", 1]]),
  () => new Error("odd"),
  () => Promise.resolve("later"),
  () => circular(),
  () => nested(300),
  () => nested(262),
  () => nested(20_000),
  () => ({ toJSON: () => undefined }),
  () => ({ toJSON: () => 10n }),
  () => Object.freeze({ role: "user", content: "text" }),
  () =>
    Object.freeze({
      id: "m",
      role: "user",
      createdAt: "now",
      content: Object.freeze([{ type: 5 }]),
    }),
  () => ({
    get thrower(): unknown {
      throw new Error("no");
    },
  }),
  () => JSON.parse('{"__proto__": {"polluted": true}}'),
  () => Object.create(null),
  () => "\ud800",
  () => ["x"],
  () => [{ tool: 5 }],
  () => ({ version: 1, value: { count: "many" } }),
  () => ({ active: "yes", planFile: 5, mode: 5, tasks: "none", activatedGroups: [5] }),
];

/** Any value there is, the odd ones often. */
export const anyValue: fc.Arbitrary<() => unknown> = fc.oneof(
  fc.constantFrom(...oddities),
  fc
    .anything({
      maxDepth: 3,
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withNullPrototype: true,
      withObjectString: true,
      withSparseArray: true,
      withTypedArray: true,
    })
    .map((value) => () => value),
);
