import {
  type AgentReply,
  InMemoryAgentStateStore,
  type JsonValue,
  ReActAgent,
  StructuredOutputError,
  textOf,
  tool,
} from "@holdfast/core";
import type { ScriptedReply } from "@holdfast/testing";
import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { pairedModel, stateProblem } from "./valid-pairing.js";

const city = z.object({ name: z.string(), people: z.number() });
const rome = { name: "Rome", people: 2_800_000 };
const respond = (input: JsonValue): ScriptedReply => ({
  toolCalls: [{ name: "generate_response", input }],
});

/** The same answer by the model's response format, or by the tool. */
const ways = [
  { way: "the response format", structuredOutput: true },
  { way: "the tool", structuredOutput: false },
] as const;

describe.each([true, false])("a structured reply, fused: %s", (fused) => {
  describe.each(ways)("by $way", ({ structuredOutput }) => {
    const reply = (value: JsonValue): ScriptedReply =>
      structuredOutput ? JSON.stringify(value) : respond(value);
    const setup = (script: readonly ScriptedReply[], more: object = {}) => {
      const model = pairedModel(script, { structuredOutput });
      const stateStore = new InMemoryAgentStateStore({ fused });
      return { model, agent: new ReActAgent({ name: "a", model, stateStore, ...more }) };
    };

    test("is the validated output, and the context holds one clean assistant message", async () => {
      const { model, agent } = setup([reply(rome), "Yes."]);
      const result = await agent.call("Rome?", { output: city });
      expect(result.reason).toBe("structured_output");
      expect(result.reason === "structured_output" && result.output).toEqual(rome);
      const [request] = model.requests;
      expect(request?.output !== undefined).toBe(structuredOutput);
      expect(request?.tools.map(({ name }) => name)).toEqual(
        structuredOutput ? [] : ["generate_response"],
      );
      const schema = structuredOutput ? request?.output : request?.tools[0]?.inputSchema;
      expect(schema).toMatchObject({ type: "object", required: ["name", "people"] });
      await agent.call("Sure?");
      expect(model.requests[1]?.messages.map(({ role, content }) => [role, content])).toEqual([
        ["user", [{ type: "text", text: "Rome?" }]],
        ["assistant", [{ type: "text", text: JSON.stringify(rome) }]],
        ["user", [{ type: "text", text: "Sure?" }]],
      ]);
      expect(model.requests[1]?.output).toBeUndefined();
      expect(model.requests[1]?.tools).toEqual([]);
    });

    test("that is invalid at first is tried again with what is wrong, and leaves no trace", async () => {
      const { model, agent } = setup([reply({ name: "Rome" }), reply(rome)]);
      const result = await agent.call("Rome?", { output: city });
      expect(result).toMatchObject({ reason: "structured_output", output: rome });
      expect(JSON.stringify(model.requests[1]?.messages)).toContain("people: ");
      const state = await agent.getAgentState();
      expect(state?.context.map(textOf)).toEqual(["Rome?", JSON.stringify(rome)]);
      expect(state && stateProblem(state)).toBeNull();
    });

    test("that stays invalid is a StructuredOutputError after three attempts, input kept", async () => {
      const { model, agent } = setup([reply({}), reply({}), reply({}), "Well."]);
      const error = await agent.call("Rome?", { output: city }).catch((reason) => reason);
      expect(StructuredOutputError.is(error)).toBe(true);
      expect(error.message).toMatch(
        /What was wrong with the last one: .*people: .*expected number/,
      );
      expect(model.requests).toHaveLength(3);
      const state = await agent.getAgentState();
      expect(state?.context.map(textOf)).toEqual(["Rome?"]);
      expect((await agent.call("And now?")).reason).toBe("stop");
    });

    test("comes after other tools, whose calls stay in the context", async () => {
      const look = tool({
        name: "look",
        description: "Looks it up.",
        input: z.object({}),
        execute: () => "2.8 million",
      });
      const { model, agent } = setup([{ toolCalls: [{ name: "look", input: {} }] }, reply(rome)], {
        tools: [look],
      });
      const result = await agent.call("Rome?", { output: city });
      expect(result).toMatchObject({ reason: "structured_output", output: rome });
      expect(model.requests[0]?.tools.map(({ name }) => name)).toContain("look");
      const state = await agent.getAgentState();
      expect(state?.context.map(({ role }) => role)).toEqual([
        "user",
        "assistant",
        "tool",
        "assistant",
      ]);
      expect(state && stateProblem(state)).toBeNull();
    });

    test.each<[string, z.ZodType, JsonValue]>([
      ["a list", z.array(z.string()), ["a", "b"]],
      ["a text", z.string(), "plain"],
      ["a text that looks like a number", z.string(), "12"],
      ["a number", z.number(), 0],
      ["null", z.string().nullable(), null],
      ["one of two objects", z.union([city, z.object({ error: z.string() })]), { error: "none" }],
    ])("may be %s", async (_, schema, value) => {
      const wrapped = structuredOutput ? value : { response: value };
      const { model, agent } = setup([reply(wrapped)]);
      const result = await agent.call("?", { output: schema });
      expect(result).toMatchObject({ reason: "structured_output" });
      expect(result.reason === "structured_output" && result.output).toEqual(value);
      expect(JSON.parse(result.text)).toEqual(value);
      if (!structuredOutput)
        expect(model.requests[0]?.tools[0]?.inputSchema).toMatchObject({
          type: "object",
          required: ["response"],
        });
    });

    test.each<[string, z.ZodType, unknown]>([
      [
        "a Date",
        z.object({ at: z.string().transform((at) => new Date(at)) }),
        { at: new Date("2026-01-02") },
      ],
      ["a bigint", z.object({ at: z.string().transform((at) => BigInt(at.length)) }), { at: 10n }],
      [
        "a Map",
        z.object({ at: z.string() }).transform(({ at }) => new Map([["at", at]])),
        new Map([["at", "2026-01-02"]]),
      ],
    ])(
      "may be turned into %s by its schema; the context keeps what the model wrote",
      async (_, schema, value) => {
        const { agent } = setup([reply({ at: "2026-01-02" }), "ok"]);
        const result = await agent.call("when?", { output: schema, callId: "c", sessionId: "s" });
        expect(result.reason === "structured_output" && result.output).toEqual(value);
        const state = await agent.getAgentState(null, "s");
        expect(JSON.parse(textOf(state?.context.at(-1) as never))).toMatchObject({
          at: expect.stringContaining("2026-01-02"),
        });
        const again = await agent.call("when?", { output: schema, callId: "c", sessionId: "s" });
        expect(again.reason === "structured_output" && again.output).toEqual(value);
      },
    );

    test("whose schema throws counts as an attempt that does not fit", async () => {
      const schema = z.object({ at: z.string().transform((at) => new Date(at).toISOString()) });
      const { agent } = setup([reply({ at: "someday" }), reply({ at: "2026-01-02" })]);
      const result = await agent.call("when?", { output: schema });
      expect(result).toMatchObject({ output: { at: "2026-01-02T00:00:00.000Z" } });
    });

    test("keeps the model's thinking and its usage", async () => {
      const usage = { inputTokens: 7, outputTokens: 3 };
      const given = reply(rome);
      const { agent } = setup([
        { ...(typeof given === "string" ? { text: given } : given), thinking: "Hm.", usage },
      ]);
      const result = await agent.call("Rome?", { output: city });
      expect(result.message.content.map(({ type }) => type)).toEqual(["thinking", "text"]);
      expect(result.message.usage).toEqual(usage);
    });
  });
});

describe("by the tool", () => {
  test("plain text first makes the tool the only choice", async () => {
    const model = pairedModel(["Rome has 2.8 million.", respond(rome)]);
    const agent = new ReActAgent({ name: "a", model });
    const result = await agent.call("Rome?", { output: city });
    expect(result.reason).toBe("structured_output");
    expect(model.requests.map(({ toolChoice }) => toolChoice)).toEqual([
      undefined,
      { tool: "generate_response" },
    ]);
    const state = await agent.getAgentState();
    expect(state?.context.map(textOf)).toEqual(["Rome?", JSON.stringify(rome)]);
  });

  test("called together with others, none runs and the model is told to call it alone", async () => {
    const ran: string[] = [];
    const look = tool({
      name: "look",
      description: "Looks it up.",
      input: z.object({}),
      execute: () => {
        ran.push("look");
        return "2.8 million";
      },
    });
    const both: ScriptedReply = {
      toolCalls: [
        { name: "look", input: {} },
        { name: "generate_response", input: rome },
      ],
    };
    const model = pairedModel([both, respond(rome)]);
    const agent = new ReActAgent({ name: "a", model, tools: [look] });
    const result = await agent.call("Rome?", { output: city });
    expect(result).toMatchObject({ reason: "structured_output", output: rome });
    expect(ran).toEqual([]);
    expect(JSON.stringify(model.requests[1]?.messages)).toContain("call generate_response alone");
    const state = await agent.getAgentState();
    expect(state?.context).toHaveLength(2);
  });

  test("a wrapped schema that refers to itself still points at its own parts", async () => {
    interface Node {
      readonly name: string;
      readonly children: readonly Node[];
    }
    const node: z.ZodType<Node> = z.object({
      name: z.string(),
      get children() {
        return z.array(node);
      },
    });
    const forest = z.array(node);
    const value = [{ name: "root", children: [{ name: "leaf", children: [] }] }];
    const model = pairedModel([respond({ response: value })]);
    const result = await new ReActAgent({ name: "a", model }).call("?", { output: forest });
    expect(result).toMatchObject({ output: value });
    const schema = model.requests[0]?.tools[0]?.inputSchema;
    const references = [...JSON.stringify(schema).matchAll(/"\$ref":"#([^"]*)"/g)];
    expect(references.length).toBeGreaterThan(0);
    for (const [, pointer = ""] of references) {
      let at: unknown = schema;
      for (const key of pointer.split("/").slice(1)) at = (at as Record<string, unknown>)?.[key];
      expect(at, pointer).toBeTypeOf("object");
      expect(at, pointer).not.toBe(schema);
    }
  });

  test("is used when the fallback model has no response format", async () => {
    const model = pairedModel(() => ({ error: new Error("down") }), { structuredOutput: true });
    const fallbackModel = pairedModel([respond(rome)]);
    const agent = new ReActAgent({ name: "a", model, fallbackModel });
    const result = await agent.call("Rome?", { output: city });
    expect(result).toMatchObject({ reason: "structured_output", output: rome });
    expect(fallbackModel.requests[0]?.output).toBeUndefined();
  });
});

test("a model that gives no JSON: the error says where it is broken, and quotes nothing", async () => {
  const model = pairedModel(() => '{"name": "Secret Rome", people}', { structuredOutput: true });
  const agent = new ReActAgent({ name: "a", model });
  const error = await agent.call("Rome?", { output: city }).catch((reason) => reason);
  expect(error.message).toContain("it is not valid JSON: at character 25 a key in double quotes");
  expect(error.message).not.toContain("Secret");
});

test("a model that only talks: the error says that it did not call the tool", async () => {
  const agent = new ReActAgent({ name: "a", model: pairedModel(() => "Rome is large.") });
  const error = await agent.call("Rome?", { output: city }).catch((reason) => reason);
  expect(error.message).toContain("it answered in text without calling generate_response");
});

test("at the limit of steps the call explains instead", async () => {
  const model = pairedModel([respond({}), "I could not."]);
  const agent = new ReActAgent({ name: "a", model, maxIterations: 1 });
  const result = await agent.call("Rome?", { output: city });
  expect(result).toMatchObject({ reason: "max_iterations", text: "I could not." });
});

test("a middleware's stop ends the call though the output does not fit", async () => {
  const model = pairedModel([respond({}), respond(rome)]);
  const agent = new ReActAgent({
    name: "a",
    model,
    middleware: [
      {
        name: "stopper",
        onReasoning: async (step, next) => {
          step.stop();
          return next();
        },
      },
    ],
  });
  expect((await agent.call("Rome?", { output: city })).reason).toBe("middleware_stop");
  expect(model.requests).toHaveLength(1);
  const state = await agent.getAgentState();
  expect(state && stateProblem(state)).toBeNull();
});

test("the type of the output follows the schema", async () => {
  const agent = new ReActAgent({ name: "a", model: pairedModel([respond(rome), "x", "x"]) });
  const reply = await agent.call("Rome?", { output: city });
  expectTypeOf(reply).toEqualTypeOf<AgentReply<{ name: string; people: number }>>();
  if (reply.reason !== "structured_output") throw new Error("no output");
  expectTypeOf(reply.output.people).toEqualTypeOf<number>();
  const run = agent.stream("x", { sessionId: "t" });
  expectTypeOf(run.result).resolves.toEqualTypeOf<AgentReply<unknown>>();
  const both = { schema: city, jsonSchema: { type: "object" } } as const;
  expectTypeOf(agent.stream<typeof both>)
    .returns.toHaveProperty("result")
    .resolves.toEqualTypeOf<AgentReply<{ name: string; people: number }>>();
  await run.result;
});
