import {
  ConfigurationError,
  definePlugin,
  InMemoryAgentStateStore,
  ReActAgent,
  type ReActAgentOptions,
  tool,
} from "@holdfast/core";
import { HarnessAgent, type HarnessAgentOptions } from "@holdfast/harness";
import { scriptedModel } from "@holdfast/testing";
import { Redis } from "ioredis";
import { createPool } from "mysql2/promise";
import { afterAll, describe, expect, test } from "vitest";
import { z } from "zod";

const client = new Redis({ lazyConnect: true });
const pool = createPool({ host: "127.0.0.1", user: "nobody" });
afterAll(async () => {
  client.disconnect();
  await pool.end();
});

/** A client of the redis package has these methods, among others. */
const nodeRedis = { sendCommand: () => undefined, duplicate: () => undefined, isOpen: true };
const aiSdkModel = { specificationVersion: "v3", modelId: "gpt", doStream: () => undefined };
const aiSdkTool = { description: "d", inputSchema: z.object({}), execute: () => 1 };
const own = tool({ name: "t", description: "t", input: z.object({}), execute: () => 1 });
const parts = new InMemoryAgentStateStore().companions();
const plugin = { name: "p", contract: 1, setup: () => undefined } as const;

class MyStore {}
function compaction() {
  return plugin;
}

function problemsOf(make: () => unknown): readonly string[] {
  try {
    make();
  } catch (error) {
    if (ConfigurationError.is(error)) return error.problems;
    throw error;
  }
  return [];
}

const makers = {
  ReActAgent: (options: object) => new ReActAgent(options as ReActAgentOptions),
  "HarnessAgent.create": (options: object) => HarnessAgent.create(options as HarnessAgentOptions),
};

describe.each(Object.entries(makers))("%s says what was meant by", (_, make) => {
  test.each<[string, object, RegExp]>([
    [
      "a misspelt option",
      { maxIteration: 5 },
      /unknown option "maxIteration"; did you mean maxIterations\?/,
    ],
    [
      "an option that is neither true, false nor user",
      { requireSession: "yes" },
      /^requireSession: must be true, false or "user", got "yes"$/,
    ],
    [
      "a clock that returns a number",
      { clock: Date.now },
      /^clock: must return a Date, such as \(\) => new Date\(\), got \d+$/,
    ],
    [
      "a clock that returns no time",
      { clock: () => new Date(Number.NaN) },
      /^clock: must return a valid Date$/,
    ],
    ["another library's word", { system: "Be kind." }, /unknown option "system"/],
    [
      "a misspelt limit",
      { limits: { messagesBytes: 5 } },
      /^limits: .*did you mean messageBytes\?/,
    ],
    [
      "a text where true or false is needed",
      { singleNode: "yes" },
      /^singleNode: must be true or false, got "yes"$/,
    ],
    [
      "a key in place of { key }",
      { integrity: "hunter2-hunter2-hunter2-hunter2-" },
      /^integrity: must be an object, got a string$/,
    ],
    ["nothing as a tool", { tools: [undefined] }, /^a tool is made with .*, got undefined$/],
    [
      "a model whose stream is no function",
      { model: { id: "m", stream: "yes" } },
      /^model: must have a stream function .*, got an object$/,
    ],
    [
      "a plugin that throws an object",
      {
        plugins: [
          {
            ...plugin,
            setup() {
              throw { status: 500 };
            },
          },
        ],
      },
      /^plugin "p": it threw an object without a message$/,
    ],
    ["an AI SDK model", { model: aiSdkModel }, /^model: .*fromAiSdk\(model\)/],
    ["an AI SDK fallback", { fallbackModel: aiSdkModel }, /^fallbackModel: .*fromAiSdk\(model\)/],
    [
      "a model's name",
      { model: "gpt" },
      /^model: must have a stream function.*fromAiSdk.*got "gpt"/,
    ],
    ["a model that is awaited later", { model: Promise.resolve() }, /^model: .*promise; await it/],
    ["a URL as a store", { stateStore: "redis://x" }, /^stateStore: .*RedisDistributedStore\.from/],
    [
      "an ioredis client",
      { stateStore: client },
      /^stateStore: .*Redis client.*RedisDistributedSto/,
    ],
    [
      "a redis client",
      { distributedStore: nodeRedis },
      /^distributedStore: .*RedisDistributedStore\.from/,
    ],
    [
      "a MySQL pool",
      { stateStore: pool },
      /^stateStore: .*MySQL pool.*MysqlDistributedStore\.from/,
    ],
    [
      "a pool as a bundle",
      { distributedStore: pool },
      /^distributedStore: .*MysqlDistributedStore/,
    ],
    ["a class", { stateStore: MyStore }, /^stateStore: it is a class; .*new MyStore\(…\)/],
    [
      "a promise of a store",
      { stateStore: Promise.resolve(parts) },
      /^stateStore: .*await it first/,
    ],
    [
      "a bundle as a state store",
      { stateStore: parts },
      /^stateStore: .*pass it as distributedStore/,
    ],
    ["a state store as a bundle", { distributedStore: parts.stateStore }, /pass it as stateStore/],
    ["an object that is no store", { stateStore: {} }, /^stateStore: it has no load, save, delete/],
    ["an object that is no gate", { gate: { acquire: () => 1 } }, /^gate: it has no calls/],
    ["an AI SDK tool", { tools: [aiSdkTool] }, /tool of the AI SDK.*tool\(\{ name, description/],
    ["tools by name", { tools: { own } }, /^tools: must be a list, got an object/],
    ["a function as a tool", { tools: [() => 1] }, /tool\(\{ name, .*it is a function/],
    [
      "a factory that was not called",
      { plugins: [compaction] },
      /function; pass what it returns, compaction\(…\)/,
    ],
    ["a middleware as a plugin", { plugins: [{ name: "m", onCall: () => 1 }] }, /is a middleware/],
    ["a plugin as a middleware", { middleware: [plugin] }, /is a plugin; pass it to plugins/],
    [
      "a misspelt hook",
      { middleware: [{ name: "m", onToolcall: () => 1 }] },
      /did you mean onToolCall\?/,
    ],
    [
      "a hook that is none",
      { middleware: [{ name: "m", onCall: "x" }] },
      /onCall must be a function/,
    ],
    ["a list of nothing", { toolGroups: [undefined] }, /a tool group is \{ name, tools/],
    ["a listener that is none", { onEvent: "log" }, /^onEvent: must be a function, got "log"/],
    ["an offloader that is none", { offloader: {} }, /^offloader: it has no offloadContext/],
    ["a counter that is none", { tokenCounter: () => 1 }, /^tokenCounter: .*tokenCounterOf\(\{ id/],
    [
      "a directory as a filesystem",
      { filesystem: "./x" },
      /^filesystem: .*LocalFilesystem(Spec)?\(/,
    ],
    ["a list among tools", { tools: [[own]] }, /tool.*: it is a list of its own; spread it/],
    [
      "a list among plugins",
      { plugins: [[plugin]] },
      /plugin.*: it is a list of its own; spread it/,
    ],
  ])("%s", (_name, options, expected) => {
    const problems = problemsOf(() => make({ name: "a", model: scriptedModel([]), ...options }));
    expect(problems).toEqual([expect.stringMatching(expected)]);
  });

  test("a misspelt model, once", () => {
    expect(problemsOf(() => make({ name: "a", modle: scriptedModel([]) }))).toEqual([
      'unknown option "modle"; did you mean model?',
    ]);
    expect(problemsOf(() => make({ name: "a", modle: aiSdkModel }))).toEqual([
      'unknown option "modle"; did you mean model?',
      expect.stringMatching(/^model: .*fromAiSdk\(model\)/),
    ]);
  });

  test("no model", () => {
    expect(problemsOf(() => make({ name: "a" }))).toEqual([
      expect.stringMatching(/^model: the agent needs one, for example fromAiSdk\(openai\("…"\)\)/),
    ]);
  });

  test("a clock that cannot be read yet, nothing", () => {
    const clock = () => {
      throw new Error("not yet");
    };
    expect(problemsOf(() => make({ name: "a", model: scriptedModel([]), clock }))).toEqual([]);
  });

  test("parts and plugins without a contract", () => {
    const { contract: _, ...bare } = plugin;
    const stateStore = Object.assign(new InMemoryAgentStateStore(), { contract: undefined });
    const model = scriptedModel([]);
    expect(problemsOf(() => make({ name: "a", model, plugins: [bare], stateStore }))).toEqual([
      'plugin "p" has no contract; add contract: 1',
      "stateStore: it has no contract; add contract: 1",
    ]);
    expect(problemsOf(() => definePlugin(bare as never))).toEqual([
      'plugin "p" has no contract; add contract: 1',
    ]);
  });

  test("everything at once, in one error", () => {
    const problems = problemsOf(() =>
      make({ nam: "a", model: aiSdkModel, stateStore: "redis://x", tools: [aiSdkTool], gate: 5 }),
    );
    for (const word of [
      '"nam"',
      "fromAiSdk",
      "stateStore:",
      "AI SDK has no name",
      "gate:",
      "name:",
    ])
      expect(problems.filter((problem) => problem.includes(word))).toHaveLength(1);
    expect(problems).toHaveLength(6);
  });

  test.each([undefined, null, "assistant", 5, Promise.resolve({}), () => ({}), []])(
    "options that are no options: %o",
    (options) => {
      const problems = problemsOf(() => make(options as object));
      expect(problems[0]).toMatch(/^the options must be an object such as \{ name, model \}/);
    },
  );

  test("nothing, when parts are proxies, classes of others or objects without a prototype", () => {
    const stateStore = new Proxy(parts.stateStore, {
      get(target, key) {
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    const model = Object.assign(Object.create(null), scriptedModel([]));
    expect(problemsOf(() => make({ name: "a", model, stateStore, tools: [own] }))).toEqual([]);
  });
});

test("the builder says the same", () => {
  const problems = problemsOf(() =>
    HarnessAgent.builder()
      .name("a")
      .model(aiSdkModel as never)
      .stateStore("redis://x" as never)
      .tools(aiSdkTool as never)
      .use(compaction as never)
      .requireSession("user")
      .build(),
  );
  expect(problems).toHaveLength(4);
});

test("the builder tells lists to be spread", () => {
  const problems = problemsOf(() =>
    HarnessAgent.builder()
      .name("a")
      .model(scriptedModel([]))
      .use([plugin] as never)
      .tools([own] as never)
      .build(),
  );
  expect(problems).toEqual([
    expect.stringContaining("spread it"),
    expect.stringContaining("spread it"),
  ]);
});

test("new HarnessAgent names the ways to make one", () => {
  const Made = HarnessAgent as unknown as new (options?: object) => HarnessAgent;
  for (const options of [undefined, { name: "a", model: scriptedModel([]) }])
    expect(problemsOf(() => new Made(options))).toEqual([
      expect.stringMatching(/HarnessAgent\.create\(options\) or HarnessAgent\.builder\(\)/),
    ]);
});

test("a gate that does not say how far it reaches is told to, beside a store of all nodes", () => {
  const stateStore = Object.assign(new InMemoryAgentStateStore(), { reach: "distributed" });
  const gate = { contract: 1, kind: "mine", acquire: () => 1, calls: () => 1 } as never;
  const { log, signals } = parts;
  const far = (part: object) =>
    Object.assign(Object.create(part) as never, { reach: "distributed" });
  const model = scriptedModel([]);
  const options = { name: "a", model, stateStore, gate, log: far(log), signals: far(signals) };
  expect(problemsOf(() => new ReActAgent(options))).toEqual([
    'gate: "mine" does not say how far it reaches; give it reach: "process", "host" or "distributed"',
  ]);
});

test.each([undefined, null, "t"])("tool(%o) says what it needs", (options) => {
  expect(problemsOf(() => tool(options as never))).toEqual([
    expect.stringMatching(/^tool needs \{ name, description, input, execute \}, got /),
  ]);
});

test("the builder has requireSession", async () => {
  const agent = HarnessAgent.builder()
    .name("a")
    .model(scriptedModel([]))
    .stateStore(new InMemoryAgentStateStore())
    .requireSession()
    .build();
  await expect(agent.call("hello")).rejects.toThrow(/names no sessionId/);
  await agent.close();
});
