import type { StandardSchemaV1 } from "@standard-schema/spec";
import { describe, expect, expectTypeOf, test, vi } from "vitest";
import { z } from "zod";
import * as mini from "zod/mini";
import {
  ConfigurationError,
  type InferInput,
  RuntimeContext,
  suspend,
  type Tool,
  type ToolCallContext,
  tool,
  toolResult,
} from "../../src/index.js";
import { isExplicitToolResult, isSuspended, validateInput } from "../../src/plugin-kit/index.js";

/** A Standard Schema of a library that cannot describe itself; it wants a string and makes it a number. */
const bare: StandardSchemaV1<string, number> = {
  "~standard": {
    version: 1,
    vendor: "bare",
    validate: (value) =>
      typeof value === "string"
        ? { value: value.length }
        : { issues: [{ message: "want text", path: ["a", { key: 0 }, Symbol("b")] }] },
  },
};
const textSchema = { type: "object", properties: { text: { type: "string" } } } as const;

const toolCtx: ToolCallContext = Object.assign(RuntimeContext.empty(), {
  slot: { agentId: "a", userId: null, sessionId: "s" },
  agentId: "a",
  toolCallId: "c",
  progress: () => undefined,
  answers: [],
});

function problemsOf(make: () => unknown): readonly string[] {
  try {
    make();
  } catch (error) {
    if (ConfigurationError.is(error)) return error.problems;
    throw error;
  }
  throw new Error("not refused");
}

describe("tool", () => {
  test("shows a model the JSON Schema of what goes into a zod schema", () => {
    const search = tool({
      name: "search",
      description: "Searches.",
      input: z.object({
        query: z.string().describe("What to look for"),
        limit: z.number().int().default(10),
        since: z.string().transform((text) => new Date(text)),
      }),
      execute: () => "",
    });
    expect(search.inputSchema).toMatchObject({
      type: "object",
      properties: {
        query: { type: "string", description: "What to look for" },
        limit: { type: "integer", default: 10 },
        since: { type: "string" },
      },
      required: ["query", "since"],
    });
    expect(search.inputSchema).not.toHaveProperty("$schema");
    expect(Object.isFrozen(search.inputSchema["properties"])).toBe(true);
  });

  test("asks a schema that can describe itself, of any library", () => {
    const describing = {
      "~standard": { ...bare["~standard"], jsonSchema: { input: () => textSchema } },
    };
    const made = tool({ name: "t", description: "d", input: describing });
    expect(made.inputSchema).toEqual(textSchema);
  });

  test("describes a schema of a zod that does not do it by itself", () => {
    const schema = z.object({ limit: z.number().default(10) });
    const { vendor, version, validate } = schema["~standard"];
    const older = Object.create(schema, { "~standard": { value: { vendor, version, validate } } });
    const { inputSchema } = tool({ name: "t", description: "d", input: older as typeof schema });
    expect(inputSchema).toMatchObject({ type: "object", properties: { limit: { default: 10 } } });
    expect(inputSchema).not.toHaveProperty("required");
  });

  test("describes a schema of zod/mini", () => {
    const schema = mini.object({ limit: mini.number().check(mini.minimum(1)) });
    const { inputSchema } = tool({ name: "t", description: "d", input: schema });
    expect(inputSchema).toMatchObject({
      properties: { limit: { minimum: 1 } },
      required: ["limit"],
    });
  });

  test.each(["parameters", "inputs", "inputSchema"])("says that %s is named input", (key) => {
    const options = { name: "t", description: "d", [key]: z.object({}) };
    expect(problemsOf(() => tool(options as never))).toEqual([
      `tool "t": unknown option "${key}"; did you mean input?`,
    ]);
  });

  test("refuses an option that is misspelt, and leaves fields of its own alone", () => {
    const options = { name: "t", description: "d", input: z.object({}), client: {} };
    expect(tool({ ...options }).name).toBe("t");
    expect(tool({ ...tool(options), name: "u" }).name).toBe("u");
    const misspelt = { ...options, needApproval: true };
    expect(problemsOf(() => tool(misspelt))).toEqual([
      'tool "t": unknown option "needApproval"; did you mean needsApproval?',
    ]);
  });

  test("says of a tool without a name that it has none", () => {
    expect(problemsOf(() => tool({ description: 5, input: z.object({}) } as never))).toEqual([
      "a tool: name: must be a string",
      "a tool: description: must be a string",
    ]);
  });

  test("says how to make a schema of a plain object of schemas", () => {
    const input = { a: z.number() } as never;
    expect(problemsOf(() => tool({ name: "t", description: "d", input }))).toEqual([
      'the input of tool "t" is a plain object of schemas; wrap it in z.object({…})',
    ]);
  });

  test("takes { schema, jsonSchema } for the others, and copies it", () => {
    const jsonSchema = structuredClone(textSchema);
    const made = tool({ name: "t", description: "d", input: { schema: bare, jsonSchema } });
    expect(made.inputSchema).toEqual(textSchema);
    expect(made.inputSchema).not.toBe(jsonSchema);
    expect(Object.isFrozen(jsonSchema)).toBe(false);
  });

  test("accepts a schema that is a function, and one with a property named schema", async () => {
    const callable = Object.assign(() => 0, {
      "~standard": { ...bare["~standard"], jsonSchema: { input: () => textSchema } },
      schema: "something else",
    });
    const made = tool({ name: "t", description: "d", input: callable });
    expect(made.inputSchema).toEqual(textSchema);
    expect(await validateInput(made.input, "four")).toEqual({ value: 4 });
  });

  test("refuses a schema that cannot describe itself, naming the tool, the library and the way out", () => {
    const [problem, ...more] = problemsOf(() =>
      tool({ name: "lost", description: "d", input: bare }),
    );
    expect(more).toEqual([]);
    expect(problem).toContain('"lost"');
    expect(problem).toContain("bare");
    expect(problem).toContain("{ schema, jsonSchema }");
  });

  test("refuses a zod schema that JSON Schema cannot express", () => {
    const make = () => tool({ name: "when", description: "d", input: z.object({ at: z.date() }) });
    expect(problemsOf(make)[0]).toContain('"when"');
  });

  test.each([undefined, null, {}, "schema", { schema: bare }, { schema: {}, jsonSchema: {} }])(
    "refuses %j as an input",
    (input) => {
      const make = () => tool({ name: "t", description: "d", input: input as never });
      expect(problemsOf(make)[0]).toContain('the input of tool "t" is neither');
    },
  );

  test("reports everything that is wrong at once", () => {
    const problems = problemsOf(() =>
      tool({
        name: "no spaces",
        description: "",
        input: bare,
        readOnly: "yes" as never,
        group: "",
        timeoutMs: -1,
        execute: "run" as never,
      }),
    );
    const fields = ["name", "description", "readOnly", "group", "timeoutMs", "execute"];
    for (const field of fields)
      expect(problems.some((problem) => problem.startsWith(`tool "no spaces": ${field}: `))).toBe(
        true,
      );
    expect(problems).toHaveLength(fields.length + 1);
  });

  test.each(["", "a b", "é", "x".repeat(65), "a.b", "__proto__\n"])(
    "refuses the name %j",
    (name) => {
      expect(problemsOf(() => tool({ name, description: "d", input: z.object({}) }))[0]).toContain(
        "name",
      );
    },
  );

  test("is frozen, with its defaults set", () => {
    const made = tool({ name: "T-1_x", description: "d", input: z.object({}) });
    expect(Object.isFrozen(made)).toBe(true);
    expect(made).toMatchObject({ readOnly: false, group: undefined, timeoutMs: undefined });
    expect(made.execute).toBe(undefined);
  });

  test("execute keeps its this", () => {
    const options = {
      name: "t",
      description: "d",
      input: z.object({}),
      prefix: "kept",
      execute() {
        return this.prefix;
      },
    };
    const { execute } = tool(options);
    expect(execute?.({}, toolCtx)).toBe("kept");
  });

  test("the type of execute's input is what the schema validates to", () => {
    tool({
      name: "t",
      description: "d",
      input: z.object({ a: z.string(), b: z.number().default(1), c: z.string().optional() }),
      execute(input, ctx) {
        expectTypeOf(input).toEqualTypeOf<{ a: string; b: number; c?: string | undefined }>();
        expectTypeOf(ctx).toEqualTypeOf<ToolCallContext>();
      },
    });
    tool({
      name: "t",
      description: "d",
      input: { schema: bare, jsonSchema: textSchema },
      execute: (input) => expectTypeOf(input).toEqualTypeOf<number>(),
    });
    expectTypeOf<InferInput<typeof bare>>().toEqualTypeOf<number>();
  });

  test("a tool keeps the types of its input and output, and any tool is a Tool", async () => {
    const add = tool({
      name: "add",
      description: "d",
      input: z.object({ a: z.number(), b: z.number().default(1) }),
      execute: ({ a, b }) => a + b,
    });
    expectTypeOf(add).toEqualTypeOf<Tool<{ a: number; b: number }, number>>();
    expectTypeOf(add.execute?.({ a: 1, b: 2 }, toolCtx)).toEqualTypeOf<number | undefined>();
    expect(add.execute?.({ a: 1, b: 2 }, toolCtx)).toBe(3);
    // @ts-expect-error -- b is a number
    add.execute?.({ a: 1, b: "2" }, toolCtx);
    const later = tool({
      name: "later",
      description: "d",
      input: { schema: bare, jsonSchema: textSchema },
      async execute(input, ctx) {
        return { input, of: ctx.slot.sessionId, by: ctx.toolCallId };
      },
    });
    const result = await later.execute?.(7, toolCtx);
    expectTypeOf(result).toEqualTypeOf<{ input: number; of: string; by: string } | undefined>();
    const outside = tool({ name: "outside", description: "d", input: z.object({}) });
    const made: ReturnType<typeof tool> = add;
    const tools: readonly Tool[] = [add, later, outside, made];
    expect(tools.map(({ name }) => name)).toEqual(["add", "later", "outside", "add"]);
  });
});

describe("validateInput", () => {
  const schema = z.object({
    query: z.string(),
    filters: z.array(z.object({ field: z.string() })),
    limit: z.coerce.number().default(5),
  });

  test("gives the validated value, defaults and conversions applied", async () => {
    const value = { query: "q", filters: [], limit: "7" };
    expect(await validateInput(schema, value)).toEqual({ value: { ...value, limit: 7 } });
  });

  test("names every path that is wrong, for the model to correct", async () => {
    const { problem } = await validateInput(schema, { filters: [{ field: "a" }, { field: 1 }] });
    expect(problem).toMatch(/^query: .+; filters\.1\.field: .+$/);
  });

  test("has no path to name when the whole is wrong", async () => {
    const { problem } = await validateInput(z.string(), 5);
    expect(problem).toMatch(/expected string/i);
    expect(problem).not.toMatch(/^:/);
  });

  test("understands every form of path a Standard Schema may report", async () => {
    const { problem } = await validateInput({ schema: bare, jsonSchema: {} }, 5);
    expect(problem).toBe("a.0.Symbol(b): want text");
  });

  test("waits for asynchronous checks", async () => {
    const taken = z.string().refine(async (name) => name !== "taken", "is taken");
    expect(await validateInput(taken, "free")).toEqual({ value: "free" });
    expect(await validateInput(z.object({ name: taken }), { name: "taken" })).toEqual({
      problem: "name: is taken",
    });
  });
});

describe("what a tool may return", () => {
  test("suspend and toolResult are told apart from everything else", () => {
    const suspended = suspend("waits for payment");
    const result = toolResult({ output: "no", state: "denied", metadata: { by: "guard" } });
    expect([suspended.reason, suspend().reason]).toEqual(["waits for payment", undefined]);
    expect(result).toMatchObject({ output: "no", state: "denied", metadata: { by: "guard" } });
    expect(toolResult({ output: [] }).state).toBe("success");
    for (const value of [null, undefined, "suspend", {}, [], { reason: "r" }, { output: "" }]) {
      expect(isSuspended(value)).toBe(false);
      expect(isExplicitToolResult(value)).toBe(false);
    }
    expect([isSuspended(suspended), isExplicitToolResult(suspended)]).toEqual([true, false]);
    expect([isSuspended(result), isExplicitToolResult(result)]).toEqual([false, true]);
  });

  test("their brands are known to a second copy of the package", async () => {
    vi.resetModules();
    const other = await import("../../src/tool/tool.js");
    expect(other.suspend).not.toBe(suspend);
    expect(isSuspended(other.suspend())).toBe(true);
    expect(other.isSuspended(suspend())).toBe(true);
    expect(isExplicitToolResult(other.toolResult({ output: "" }))).toBe(true);
    expect(other.isExplicitToolResult(toolResult({ output: "" }))).toBe(true);
  });
});
