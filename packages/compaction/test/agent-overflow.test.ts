import {
  type AgentEvent,
  type AgentReply,
  ContextOverflowError,
  characterEstimate,
  InMemoryAgentStateStore,
  type Message,
  type ModelRequest,
  ReActAgent,
  repairToolPairs,
  type Tool,
  textOf,
  tool,
} from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type CompactionOptions, compaction } from "../src/index.js";

const ctx = { userId: "u", sessionId: "s" };
const LIMIT = 3_000;

/** What providers answer to a request of `tokens` tokens, as their clients throw it. */
const refusals: Readonly<Record<string, (tokens: number) => Error>> = {
  OpenAI: (tokens) =>
    apiError(400, {
      error: {
        message: `This model's maximum context length is ${LIMIT} tokens. However, your messages resulted in ${tokens} tokens. Please reduce the length of the messages.`,
        type: "invalid_request_error",
        param: "messages",
        code: "context_length_exceeded",
      },
    }),
  "OpenAI without a number": () =>
    apiError(400, {
      error: {
        message:
          "Your input exceeds the context window of this model. Please adjust your input and try again.",
        type: "invalid_request_error",
        param: "input",
        code: "context_length_exceeded",
      },
    }),
  Anthropic: (tokens) =>
    apiError(400, {
      type: "error",
      error: {
        type: "invalid_request_error",
        message: `prompt is too long: ${tokens} tokens > ${LIMIT} maximum`,
      },
    }),
  "Anthropic 413": () =>
    apiError(413, {
      type: "error",
      error: { type: "request_too_large", message: "Request exceeds the maximum size" },
    }),
  Google: (tokens) =>
    apiError(400, {
      error: {
        code: 400,
        message: `The input token count (${tokens}) exceeds the maximum number of tokens allowed (${LIMIT}).`,
        status: "INVALID_ARGUMENT",
      },
    }),
  "a compatible server": (tokens) =>
    apiError(400, {
      object: "error",
      message: `This model's maximum context length is ${LIMIT} tokens. However, you requested ${tokens} tokens.`,
      type: "BadRequestError",
      code: 400,
    }),
};

function apiError(statusCode: number, data: object): Error {
  return Object.assign(new Error("Bad Request"), {
    name: "AI_APICallError",
    statusCode,
    data,
    responseBody: JSON.stringify(data),
    isRetryable: false,
  });
}

const counter = characterEstimate();
const tokensOf = ({
  system,
  messages,
  tools,
}: Pick<ModelRequest, "system" | "messages" | "tools">): number =>
  counter.countText(system) + counter.countMessages(messages) + counter.countTools(tools);

const isSummaryRequest = ({ messages }: Pick<ModelRequest, "messages">): boolean =>
  messages
    .at(-1)
    ?.content.some((block) => block.type === "hint" && block.source === "compaction") ?? false;

/** An agent that does not know its model's window, on a model that refuses what is longer. */
function setUp(
  refuse: (tokens: number) => Error,
  options: CompactionOptions = { triggerMessages: 0 },
  more: { readonly tools?: readonly Tool[]; readonly calls?: string } = {},
) {
  const refused: ModelRequest[] = [];
  const model = scriptedModel((request) => {
    const tokens = tokensOf(request);
    if (tokens > LIMIT) {
      refused.push(request);
      return { error: refuse(tokens) };
    }
    expect(repairToolPairs(request.messages).repairs).toEqual([]);
    if (isSummaryRequest(request)) return "They counted.";
    if (more.calls !== undefined)
      return request.messages.at(-1)?.role === "tool"
        ? "read"
        : { toolCalls: [{ name: more.calls, input: {} }] };
    return `re: ${textOf(request.messages.at(-1) as Message).split(" ")[0]}`;
  });
  const events: AgentEvent[] = [];
  const stateStore = new InMemoryAgentStateStore();
  const agent = new ReActAgent({
    name: "a",
    model,
    stateStore,
    tools: more.tools,
    plugins: [compaction(options)],
    onEvent: (event) => events.push(event),
  });
  const of = (type: AgentEvent["type"]) => events.filter((event) => event.type === type);
  return { agent, model, refused, of, stateStore };
}

describe.each(Object.entries(refusals))("a model refuses as %s does", (_, refuse) => {
  test.each(["call", "stream"] as const)("%s compacts, tries again and answers", async (method) => {
    const { agent, refused, of, stateStore } = setUp(refuse);
    const ask = (input: string): Promise<AgentReply> =>
      method === "call" ? agent.call(input, ctx) : agent.stream(input, ctx).result;
    const said: string[] = [];
    for (let turn = 0; turn < 12; turn++) {
      said.push(`turn-${turn} ${"word ".repeat(500)}`);
      expect((await ask(said.at(-1) as string)).text).toBe(`re: turn-${turn}`);
    }
    const reasoning = refused.filter((request) => !isSummaryRequest(request));
    expect(reasoning.length).toBeGreaterThan(1);
    expect(of("overflow_recovery")).toHaveLength(reasoning.length);
    for (const event of of("overflow_recovery")) expect(event).toMatchObject({ recovered: true });
    const state = await agent.getAgentState("u", "s");
    expect(state?.summary).toContain("They counted.");
    const last = state?.context.filter((message) => textOf(message) === said.at(-1));
    expect(last, "the request is there once").toHaveLength(1);
    const records = await stateStore
      .companions()
      .log.read({ agentId: "a", ...ctx }, { limit: 500 });
    const logged = records.flatMap(({ message }) =>
      message?.role === "user" ? textOf(message) : [],
    );
    expect(logged, "every input is logged once").toEqual(said);
  });
});

test("the stream tells of the recovery and ends as any other", async () => {
  const { agent } = setUp(refusals["Anthropic"] as (tokens: number) => Error);
  const types: string[] = [];
  for (let turn = 0; turn < 6; turn++) {
    types.length = 0;
    for await (const { type } of agent.stream(`turn-${turn} ${"word ".repeat(500)}`, ctx))
      types.push(type);
    if (types.includes("overflow_recovery")) break;
  }
  expect(types.filter((type) => /compaction|overflow/.test(type))).toEqual([
    "compaction_start",
    "compaction_end",
    "overflow_recovery",
  ]);
  expect(types.at(-1)).toBe("call_end");
});

test("a request that is too long all by itself is the caller's error, and nothing is lost", async () => {
  const { agent, of } = setUp(refusals["OpenAI"] as (tokens: number) => Error);
  await agent.call("turn-0 hello", ctx);
  const error = await agent.call(`turn-1 ${"word ".repeat(20_000)}`, ctx).catch((reason) => reason);
  expect(ContextOverflowError.is(error)).toBe(true);
  expect(error.limitTokens).toBe(LIMIT);
  expect(of("overflow_recovery")).toMatchObject([{ recovered: false }]);
  const state = await agent.getAgentState("u", "s");
  expect(state?.context.map((message) => textOf(message).split(" ")[0])).toEqual([
    "turn-0",
    "re:",
    "turn-1",
  ]);
});

test("the requested form of the answer survives the second try", async () => {
  let refusedOnce = false;
  const model = scriptedModel(
    (request, index) => {
      if (isSummaryRequest(request)) return "Short.";
      if (index < 3) return "fine";
      if (!refusedOnce) {
        refusedOnce = true;
        return { error: (refusals["Google"] as (tokens: number) => Error)(9_999) };
      }
      expect(request.output).toBeDefined();
      return '{"city": "Oslo"}';
    },
    { structuredOutput: true },
  );
  const agent = new ReActAgent({ name: "a", model, plugins: [compaction({ keepMessages: 1 })] });
  for (let turn = 0; turn < 3; turn++) await agent.call(`turn ${turn} ${"word ".repeat(100)}`, ctx);
  const reply = await agent.call("where?", { ...ctx, output: z.object({ city: z.string() }) });
  expect(reply).toMatchObject({ reason: "structured_output", output: { city: "Oslo" } });
});

test("in the middle of a turn, with tools, the turn goes on", async () => {
  const page = tool({
    name: "page",
    description: "Turns a page.",
    input: z.object({ n: z.number() }),
    execute: ({ n }) => `page ${n} ${"word ".repeat(700)}`,
  });
  let pages = 0;
  const model = scriptedModel((request) => {
    const tokens = tokensOf(request);
    if (tokens > LIMIT)
      return { error: (refusals["Anthropic"] as (tokens: number) => Error)(tokens) };
    if (isSummaryRequest(request)) return `Read ${pages} pages.`;
    if (pages < 8) return { toolCalls: [{ name: "page", input: { n: pages++ } }] };
    return "The end.";
  });
  const agent = new ReActAgent({
    name: "a",
    model,
    tools: [page],
    maxIterations: 20,
    plugins: [compaction({ triggerMessages: 0 })],
  });
  const reply = await agent.call("read the book", ctx);
  expect(reply.text).toBe("The end.");
  expect(pages).toBe(8);
  const state = await agent.getAgentState("u", "s");
  expect(state?.context.map(textOf)).toContain("read the book");
});

test("servers that are not in the list are recognised by patterns of the program", async () => {
  const model = scriptedModel((request) => {
    if (isSummaryRequest(request)) return "Short.";
    if (request.messages.length > 5) return { error: new Error("E4711 Kontext voll") };
    return "fine";
  });
  const agent = new ReActAgent({
    name: "a",
    model,
    overflowPatterns: [/E4711/],
    plugins: [compaction({ keepMessages: 2 })],
  });
  for (let turn = 0; turn < 6; turn++)
    expect((await agent.call(`turn ${turn} ${"word ".repeat(100)}`, ctx)).text).toBe("fine");
});

test("with the cheap steps alone, they do what they can when the model refuses", async () => {
  const page = tool({
    name: "page",
    description: "Reads a page.",
    input: z.object({}),
    execute: () => `a page ${"word ".repeat(700)}`,
  });
  const { agent, refused, of } = setUp(
    refusals["OpenAI"] as (tokens: number) => Error,
    { summarize: false, triggerMessages: 0, prune: true },
    { tools: [page], calls: "page" },
  );
  for (let turn = 0; turn < 6; turn++)
    expect((await agent.call(`turn-${turn} go`, ctx)).text).toBe("read");
  expect(refused.length).toBeGreaterThan(0);
  expect(of("compaction_end")[0]).toMatchObject({ cause: "overflow", actions: ["prune"] });
});
