import fc from "fast-check";
import { expect, test } from "vitest";
import * as z from "zod";
import * as s from "../../src/plugin-kit/schema/index.js";
import { runs } from "../arbitraries.js";

/** The schemas that both libraries make, in words that both know. */
const zod = z as unknown as typeof s;

/** Makes the same schema with either library. */
type Recipe = (kit: typeof s) => s.Schema;

const bound = fc.integer({ min: 0, max: 4 });
const numbers: fc.Arbitrary<Recipe> = fc
  .tuple(
    fc.boolean(),
    fc.array(
      fc.tuple(fc.constantFrom("min", "max", "gt", "lt", "positive", "nonnegative"), bound),
      { maxLength: 3 },
    ),
  )
  .map(([isInt, checks]) => (kit) => {
    const base = isInt ? kit.int() : kit.number();
    return checks.reduce((schema, [name, value]) => {
      return name === "positive" || name === "nonnegative" ? schema[name]() : schema[name](value);
    }, base);
  });

const texts: fc.Arbitrary<Recipe> = fc
  .uniqueArray(fc.tuple(fc.constantFrom("min", "max", "trim", "regex"), bound), {
    selector: ([name]) => name,
  })
  .map((checks) => (kit) => {
    return checks.reduce((schema, [name, value]) => {
      if (name === "trim") return schema.trim();
      if (name === "regex") return schema.regex(/^[a-c]*$/u, value > 2 ? "a, b and c" : undefined);
      return schema[name](value);
    }, kit.string());
  });

const leaves: fc.Arbitrary<Recipe> = fc.oneof(
  numbers,
  texts,
  fc.constantFrom<Recipe>(
    (kit) => kit.boolean(),
    (kit) => kit.unknown(),
    (kit) => kit.literal("a"),
    (kit) => kit.literal(1),
    (kit) => kit.enum(["a", "b"]),
    (kit) => kit.enum(["a"], "must be a"),
    (kit) => kit.custom((value) => value === 1, "must be 1"),
    (kit) => kit.custom((value) => typeof value === "object"),
  ),
);

const key = fc.constantFrom("a", "b", "c");
const recipes: fc.Arbitrary<Recipe> = fc.letrec<{ schema: Recipe }>((tie) => {
  const wrapped = fc
    .tuple(
      tie("schema"),
      fc.constantFrom("optional", "nullable", "nullish", "default", "prefault", "refine"),
    )
    .map(
      ([inner, name]): Recipe =>
        (kit) => {
          const schema = inner(kit);
          if (name === "default" || name === "prefault") return schema[name]("a");
          if (name === "refine") return schema.refine((value) => value !== "a", "must not be a");
          return schema[name]();
        },
    );
  const lists = fc.tuple(tie("schema"), fc.constantFrom("any", "min", "max"), bound).map(
    ([inner, check, size]): Recipe =>
      (kit) => {
        const list = kit.array(inner(kit), check === "any" ? "must be a list" : undefined);
        return check === "any" ? list : list[check](size);
      },
  );
  const objects = fc
    .tuple(
      fc.constantFrom("object", "strictObject", "looseObject"),
      fc.dictionary(key, tie("schema"), { maxKeys: 3 }),
    )
    .map(
      ([kind, shape]): Recipe =>
        (kit) => {
          const fields = Object.entries(shape).map(([name, inner]) => [name, inner(kit)] as const);
          return kit[kind](Object.fromEntries(fields)) as s.Schema;
        },
    );
  const unions = fc
    .tuple(tie("schema"), tie("schema"), fc.option(fc.constant("must be one"), { nil: undefined }))
    .map(
      ([one, other, message]): Recipe =>
        (kit) =>
          kit.union([one(kit), other(kit)], message),
    );
  const records = fc.tuple(texts, tie("schema")).map(
    ([name, inner]): Recipe =>
      (kit) => {
        return kit.record(name(kit) as s.Schema<string>, inner(kit)) as s.Schema;
      },
  );
  return {
    schema: fc.oneof(
      { maxDepth: 3, depthSize: "small" },
      leaves,
      wrapped,
      lists,
      objects,
      unions,
      records,
    ),
  };
}).schema;

const values: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    fc.constantFrom("", "a", "b", " c ", "abcdef", 0, 1, 2.5, -3, 1e20, true, null, undefined),
    fc.constantFrom(Number.NaN, Number.NEGATIVE_INFINITY, () => 0, new Date(0), new Map(), 1n),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(fc.oneof(key, fc.constantFrom("d", "__proto__")), tie("value"), { maxKeys: 4 }),
  ),
})).value;

/** What a library says about a value. */
function outcome(schema: s.Schema, value: unknown): unknown {
  const parse = schema.safeParse as (value: unknown, settings: object) => s.Parsed<unknown>;
  const { success, data, error } = parse.call(schema, value, { reportInput: true });
  if (success) return { data };
  const issues = error.issues.map(({ code, path, message, input, keys }) => {
    return { code, path: [...path], message, input, keys };
  });
  // Zod also says how long a list is that should be a text, and a list with items that are wrong.
  return issues.filter(({ code, path }, index) => {
    const isPart = (other: (typeof issues)[number]) =>
      path.every((key, at) => key === other.path[at]);
    return !(code.startsWith("too_") && issues.slice(0, index).some(isPart));
  });
}

/** JSON Schema of what a library accepts; null where it has none. */
function described(schema: s.Schema): unknown {
  const props = schema["~standard"] as unknown as {
    readonly jsonSchema: { input(options: object): Record<string, unknown> };
  };
  try {
    const { $schema: _, ...json } = props.jsonSchema.input({ target: "draft-2020-12" });
    return json;
  } catch {
    return null;
  }
}

test("a schema says of every value what zod's would", () => {
  fc.assert(
    fc.property(recipes, fc.array(values, { minLength: 1, maxLength: 8 }), (recipe, given) => {
      const [own, other] = [recipe(s), recipe(zod)];
      for (const value of given) expect(outcome(own, value)).toEqual(outcome(other, value));
    }),
    runs(2_000),
  );
});

test("a schema has the JSON Schema that zod's would have", () => {
  fc.assert(
    fc.property(recipes, (recipe) => {
      expect(described(recipe(s))).toEqual(described(recipe(zod)));
    }),
    runs(2_000),
  );
});

test("a schema reads what zod has under other names", () => {
  const own = s.object({
    when: s.instanceOf(Date),
    title: s.string().optional().catch(undefined),
    list: s.preprocess((value) => value ?? [], s.array(s.string())),
    name: s
      .string()
      .toLowerCase()
      .transform((name) => ({ name })),
    any: s.json().optional(),
  });
  const when = new Date(0);
  const any = { deep: [null, 1, "x", true] };
  expect(own.parse({ when, title: 1, name: "ADA", any })).toEqual({
    ...{ when, any, list: [] },
    name: { name: "ada" },
  });
  expect(outcome(own, { when: 1, list: [1], name: 2, any: [Number.NaN] })).toEqual([
    wrong(["when"], "Invalid input: expected Date, received number", 1),
    wrong(["list", 0], "Invalid input: expected string, received number", 1),
    wrong(["name"], "Invalid input: expected string, received number", 2),
    { ...wrong(["any"], "Invalid input", [Number.NaN]), code: "invalid_union" },
  ]);
  expect(() => own.parse({ when })).toThrow("name: Invalid input: expected string, received");
});

test("a value too deep for JSON, or one that contains itself, is refused", () => {
  const self: Record<string, unknown> = {};
  Object.assign(self, { one: self, other: self });
  let deep: unknown = 1;
  for (let level = 0; level < 100_000; level++) deep = [deep];
  for (const value of [self, deep]) expect(s.json().safeParse(value).success).toBe(false);
});

function wrong(path: PropertyKey[], message: string, input: unknown): object {
  return { code: "invalid_type", path, message, input, keys: undefined };
}
