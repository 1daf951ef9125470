import {
  type AgentEvent,
  ContextOverflowError,
  InMemoryAgentStateStore,
  InMemoryOffloader,
  type Message,
  type Middleware,
  type ModelRequest,
  ReActAgent,
  type ReActAgentOptions,
  repairToolPairs,
  textOf,
  tool,
} from "@holdfast/core";
import type { OffloadReference } from "@holdfast/core/plugin-kit";
import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type CompactionOptions, compaction, fiveFieldSummary } from "../src/index.js";

const ctx = { userId: "u", sessionId: "s" };

const isSummaryRequest = ({ messages }: Pick<ModelRequest, "messages">): boolean =>
  messages
    .at(-1)
    ?.content.some((block) => block.type === "hint" && block.source === "compaction") ?? false;

/** Long enough that a summary of a few such messages is shorter than they are. */
const long = "and so it went on and on, ".repeat(20);

const note = tool({
  name: "note",
  description: "Takes a note.",
  input: z.object({ text: z.string() }),
  execute: ({ text }) => `noted ${text.length} characters`,
});

interface Setup {
  readonly options?: CompactionOptions;
  readonly reply?: (request: ModelRequest, index: number) => ScriptedReply | Promise<ScriptedReply>;
  readonly summary?: (request: ModelRequest, index: number) => ScriptedReply;
  readonly agent?: Partial<ReActAgentOptions>;
  readonly contextWindow?: number;
  readonly structuredOutput?: boolean;
}

/** An agent with compaction, its model and everything that happened. */
function setUp(setup: Setup = {}) {
  const { summary = () => "They talked.", reply = () => "fine" } = setup;
  const { contextWindow, structuredOutput } = setup;
  const model = scriptedModel(
    (request, index) => (isSummaryRequest(request) ? summary : reply)(request, index),
    { contextWindow, structuredOutput },
  );
  const events: AgentEvent[] = [];
  const stateStore = new InMemoryAgentStateStore();
  const agent = new ReActAgent({
    name: "a",
    model,
    stateStore,
    tools: [note],
    plugins: [compaction(setup.options ?? { triggerMessages: 8, keepMessages: 3 })],
    onEvent: (event) => events.push(event),
    ...setup.agent,
  });
  const of = <T extends AgentEvent["type"]>(type: T) =>
    events.filter((event): event is Extract<AgentEvent, { type: T }> => event.type === type);
  const context = async (): Promise<readonly Message[]> =>
    (await agent.getAgentState(ctx.userId, ctx.sessionId))?.context ?? [];
  const summaries = () => model.requests.filter(isSummaryRequest);
  return { agent, model, of, events, context, summaries, stateStore };
}

describe("before a step", () => {
  test("a context at its trigger becomes a summary and the tail, and the turn goes on", async () => {
    const { agent, model, of, context, summaries } = setUp();
    for (let turn = 0; turn < 5; turn++) await agent.call(`turn ${turn}`, ctx);
    expect(summaries()).toHaveLength(1);
    const state = await agent.getAgentState("u", "s");
    expect(state?.summary).toContain("They talked.");
    expect((await context()).slice(1).map(textOf)).toEqual(["turn 3", "fine", "turn 4", "fine"]);
    expect(of("compaction_start")).toMatchObject([{ cause: "step", messages: 9 }]);
    expect(of("compaction_end")).toMatchObject([
      { cause: "step", actions: ["summary"], messagesBefore: 9, messagesAfter: 4 },
    ]);
    expect(of("compaction_end")[0]?.usage?.inputTokens).toBeGreaterThan(0);
    expect(of("compaction_failed")).toEqual([]);
    for (const { messages } of model.requests.filter((one) => !isSummaryRequest(one)))
      expect(messages.length).toBeLessThan(8);
  });

  test("the summary call counts as the call's usage and is labelled", async () => {
    const usage = { inputTokens: 1_000, outputTokens: 10 };
    const { agent, of } = setUp({ summary: () => ({ text: "short", usage }) });
    let last = await agent.call(long, ctx);
    for (let turn = 0; turn < 4; turn++) last = await agent.call(long, ctx);
    expect(of("model_call_end").filter(({ purpose }) => purpose === "summary")).toHaveLength(1);
    expect(last.usage.inputTokens).toBeGreaterThan(1_000);
  });

  test("the agent's own model gets the conversation as it has it, so that its cache serves", async () => {
    const { agent, model } = setUp({ agent: { systemPrompt: "Be brief." } });
    for (let turn = 0; turn < 5; turn++) await agent.call(`turn ${turn}`, ctx);
    const at = model.requests.findIndex(isSummaryRequest);
    const [before, summary] = [model.requests[at - 1], model.requests[at]];
    expect(summary?.system).toBe(before?.system);
    expect(summary?.tools).toEqual(before?.tools);
    const known = summary?.messages.slice(0, -1) ?? [];
    expect(known.map(({ id }) => id)).toEqual(
      before?.messages.slice(0, known.length).map(({ id }) => id),
    );
  });

  test("what leaves is in the log, and the log says when", async () => {
    const { agent, stateStore } = setUp();
    for (let turn = 0; turn < 6; turn++) await agent.call(`turn ${turn}`, ctx);
    const records = await stateStore
      .companions()
      .log.read({ agentId: "a", ...ctx }, { limit: 1_000 });
    const said = records.flatMap(({ message }) => message ?? []);
    expect(said.filter(({ role }) => role === "user").map(textOf)).toEqual(
      Array.from({ length: 6 }, (_, turn) => `turn ${turn}`),
    );
    const marks = records.flatMap(({ mark }) => (mark?.name === "compaction" ? mark : []));
    expect(marks).toMatchObject([
      { details: { cause: "step", messagesBefore: 9, messagesAfter: 4 } },
    ]);
  });

  test("in the middle of a turn the request stays, and so do its open ends", async () => {
    const { agent, context, summaries } = setUp({
      options: { triggerMessages: 10, keepMessages: 2 },
      reply: (_, index) =>
        index < 9 ? { toolCalls: [{ name: "note", input: { text: `${index}` } }] } : "all noted",
      agent: { maxIterations: 20 },
    });
    const reply = await agent.call("note everything down", ctx);
    expect(reply.text).toBe("all noted");
    expect(summaries().length).toBeGreaterThan(0);
    const messages = await context();
    expect(messages.map(textOf)).toContain("note everything down");
    expect(repairToolPairs(messages).repairs).toEqual([]);
  });

  test("in a turn that was steered the request stays, with what it was steered with", async () => {
    const { agent, context, summaries, model } = setUp({
      options: { triggerMessages: 10, keepMessages: 2 },
      reply: async (_, index) => {
        if (index === 2) await agent.steer("u", "s", "in metric units, please");
        return index < 14
          ? { toolCalls: [{ name: "note", input: { text: `${index}` } }] }
          : "all noted";
      },
      agent: { maxIterations: 20 },
    });
    await agent.call("check the valves and never open valve 3", ctx);
    expect(summaries().length).toBeGreaterThan(1);
    const words = ["check the valves and never open valve 3", "in metric units, please"];
    expect((await context()).map(textOf)).toEqual(expect.arrayContaining(words));
    expect(model.requests.at(-1)?.messages.map(textOf)).toEqual(expect.arrayContaining(words));
  });

  test("a summariser that fails costs an event and not the call", async () => {
    const { agent, of, context } = setUp({
      summary: () => ({ error: new Error("secret contents") }),
    });
    for (let turn = 0; turn < 12; turn++) await agent.call(`turn ${turn}`, ctx);
    expect(await context()).toHaveLength(24);
    const failed = of("compaction_failed");
    expect(failed[0]).toMatchObject({ cause: "step", error: "Error" });
    expect(failed.length).toBeLessThan(5);
  });

  test("what hooks add to a request is neither summarised nor kept", async () => {
    const hinting: Middleware = {
      name: "hinting",
      onReasoning: (step, next) => {
        step.hint("the weather is fine", "weather");
        return next();
      },
    };
    const { agent, context, summaries } = setUp({ agent: { middleware: [hinting] } });
    for (let turn = 0; turn < 6; turn++) await agent.call(`turn ${turn}`, ctx);
    expect(JSON.stringify(summaries()[0]?.messages)).not.toContain("weather");
    expect(JSON.stringify(await context())).not.toContain("weather");
  });

  test("it works on its own state: plan, tasks, permissions and extensions stay", async () => {
    const { agent } = setUp();
    await agent.updateAgentState("u", "s", (state) => {
      state.tasksContext = { tasks: [{ content: "finish", status: "in_progress" }] };
      state.planModeContext = { active: true, planFile: "plans/s.md" };
      state.extensions = { mine: { count: 3 } };
    });
    for (let turn = 0; turn < 6; turn++) await agent.call(`turn ${turn}`, ctx);
    const state = await agent.getAgentState("u", "s");
    expect(state?.summary).not.toBeNull();
    expect(state?.tasksContext.tasks).toHaveLength(1);
    expect(state?.planModeContext).toEqual({ active: true, planFile: "plans/s.md" });
    expect(state?.extensions).toEqual({ mine: { count: 3 } });
  });
});

describe("the cheap steps", () => {
  const long = "x".repeat(5_000);
  const noting = (_: ModelRequest, index: number): ScriptedReply =>
    index % 2 === 0 ? { toolCalls: [{ name: "note", input: { text: `${index} ${long}` } }] } : "ok";

  test("clipped arguments stay clipped, in the state too, when that suffices", async () => {
    const { agent, of, context, summaries } = setUp({
      options: {
        triggerMessages: 0,
        triggerTokens: 9_000,
        truncateArgs: { triggerMessages: 12, keepMessages: 4, maxArgLength: 100 },
      },
      reply: noting,
    });
    for (let turn = 0; turn < 8; turn++) await agent.call(`turn ${turn}`, ctx);
    expect(summaries()).toEqual([]);
    const clips = of("compaction_end");
    expect(clips.length).toBeGreaterThan(0);
    expect(clips.length).toBeLessThan(6);
    for (const { actions } of clips) expect(actions).toEqual(["truncate_args"]);
    const inputs = (await context()).flatMap(({ content }) =>
      content.flatMap((block) => (block.type === "tool_call" ? JSON.stringify(block.input) : [])),
    );
    expect(inputs[0]).toContain("... [truncated] ...");
    expect(inputs[0]?.length).toBeLessThan(200);
    expect(inputs.at(-1)).toContain(long);
  });

  test("a call that waits for an approval runs as it was shown", async () => {
    const written: string[] = [];
    const write = tool({
      name: "write",
      description: "Writes a text.",
      input: z.object({ text: z.string() }),
      needsApproval: true,
      execute: ({ text }) => written.push(text),
    });
    const text = `${"x".repeat(6_000)} end`;
    const { agent } = setUp({
      options: {
        summarize: false,
        truncateArgs: { triggerMessages: 1, keepMessages: 0, maxArgLength: 200 },
      },
      reply: (_, index) =>
        index === 0 ? { toolCalls: [{ name: "write", input: { text } }] } : "ok",
      agent: { tools: [write] },
    });
    await agent.call("write it down", ctx);
    await agent.compact("u", "s");
    const [ask] = await agent.pending("u", "s");
    expect(ask?.input).toEqual({ text });
    await agent.call({ confirm: [{ toolCallId: ask?.toolCallId ?? "", approve: true }] }, ctx);
    expect(written).toEqual([text]);
  });

  test("with summarize: false nothing else is done", async () => {
    const { agent, context, summaries } = setUp({
      options: {
        summarize: false,
        triggerMessages: 10,
        prune: { protectTokens: 100, minimumTokens: 100, maxResultChars: 200 },
      },
      reply: (_, index) => (index % 2 === 0 ? { toolCalls: [{ name: "shout", input: {} }] } : "ok"),
      agent: {
        tools: [
          tool({ name: "shout", description: "Shouts.", input: z.object({}), execute: () => long }),
        ],
      },
    });
    for (let turn = 0; turn < 6; turn++) await agent.call(`turn ${turn}`, ctx);
    expect(summaries()).toEqual([]);
    const messages = await context();
    expect(messages).toHaveLength(24);
    expect(JSON.stringify(messages[2])).toContain("characters pruned");
    expect(JSON.stringify(messages[2]).length).toBeLessThan(1_000);
  });
});

describe("agent.compact", () => {
  test("does nothing below the trigger, and compacts when forced", async () => {
    const { agent, context } = setUp({ options: {} });
    for (let turn = 0; turn < 6; turn++) await agent.call(`turn ${turn}`, ctx);
    expect(await agent.compact("u", "s")).toMatchObject({ compacted: false, messagesBefore: 12 });
    const forced = await agent.compact("u", "s", { force: true, keepMessages: 2 });
    expect(forced).toMatchObject({ compacted: true, messagesBefore: 12, messagesAfter: 3 });
    expect(await context()).toHaveLength(3);
    expect(await agent.compact("u", "s", { force: true, keepMessages: 2 })).toMatchObject({
      compacted: false,
      messagesAfter: 3,
    });
  });

  test("forced on a short session it keeps a quarter, whatever the default tail is", async () => {
    const { agent, context } = setUp({ options: {} });
    for (let turn = 0; turn < 6; turn++) await agent.call(`turn ${turn}`, ctx);
    expect(await agent.compact("u", "s", { force: true })).toMatchObject({
      compacted: true,
      messagesBefore: 12,
      messagesAfter: 4,
    });
    expect((await context()).slice(1).map(textOf)).toEqual(["fine", "turn 5", "fine"]);
  });

  test("takes one-off instructions, and refuses options that do not exist", async () => {
    const { agent, summaries } = setUp({ options: {} });
    for (let turn = 0; turn < 6; turn++) await agent.call(`turn ${turn}`, ctx);
    await agent.compact("u", "s", {
      force: true,
      keepMessages: 2,
      instructions: "Keep the dates.",
    });
    expect(JSON.stringify(summaries()[0]?.messages.at(-1))).toContain("Keep the dates.");
    await expect(agent.compact("u", "s", { force: true, keepMesages: 2 })).rejects.toThrow(
      /keepMesages/,
    );
  });

  test("says why it failed, and leaves everything as it was", async () => {
    const { agent, context } = setUp({ options: {}, summary: () => "  " });
    for (let turn = 0; turn < 6; turn++) await agent.call(`turn ${turn}`, ctx);
    const before = await context();
    const result = await agent.compact("u", "s", { force: true, keepMessages: 2 });
    expect(result).toMatchObject({ compacted: false, failure: "the summary was empty" });
    expect(await context()).toEqual(before);
  });
});

describe("the tail", () => {
  test("by ratios of the window", async () => {
    const { agent, of } = setUp({
      options: { triggerRatio: 0.5, reserveRatio: 0.1 },
      contextWindow: 4_000,
      reply: () => "word ".repeat(200),
    });
    for (let turn = 0; turn < 12; turn++) await agent.call(`turn ${turn}`, ctx);
    const ends = of("compaction_end");
    expect(ends.length).toBeGreaterThan(0);
    for (const { tokensBefore, tokensAfter } of ends) {
      expect(tokensBefore).toBeGreaterThanOrEqual(2_000);
      expect(tokensAfter).toBeLessThan(1_000);
    }
  });

  test("is as long as the window allows by default", async () => {
    const { agent, of } = setUp({
      options: {},
      contextWindow: 32_000,
      reply: () => "word ".repeat(1_000),
    });
    for (let turn = 0; turn < 14; turn++) await agent.call(`turn ${turn}`, ctx);
    // 12,000 is the window without the reserve; a quarter of it stays.
    for (const { tokensBefore, tokensAfter } of of("compaction_end")) {
      expect(tokensBefore).toBeGreaterThanOrEqual(12_000);
      expect(tokensAfter).toBeLessThan(4_500);
      expect(tokensAfter).toBeGreaterThan(1_500);
    }
    expect(of("compaction_end").length).toBeGreaterThan(0);
  });

  test("one huge batch of results is no reason to give up", async () => {
    const { agent, context, of } = setUp({
      options: { triggerTokens: 5_000, keepTokens: 1_000 },
      contextWindow: 8_000,
      reply: (_, index) =>
        index === 0
          ? { toolCalls: [1, 2, 3].map((n) => ({ name: "shout", input: { n } })) }
          : "summarised it",
      agent: {
        tools: [
          tool({
            name: "shout",
            description: "Shouts.",
            input: z.object({ n: z.number() }),
            execute: ({ n }) => `${n} `.repeat(4_000),
          }),
        ],
      },
    });
    const reply = await agent.call("shout three times", ctx);
    expect(reply.text).toBe("summarised it");
    expect(of("compaction_end")).toHaveLength(1);
    expect((await context()).map(textOf)).toEqual(["", "shout three times", "summarised it"]);
  });
});

describe("what is asked for", () => {
  const asked = async (options: CompactionOptions, summary: ScriptedReply, structured = false) => {
    const made = setUp({
      options: { triggerMessages: 8, keepMessages: 3, ...options },
      summary: () => summary,
      structuredOutput: structured,
    });
    for (let turn = 0; turn < 5; turn++) await made.agent.call(`turn ${turn} ${long}`, ctx);
    const state = await made.agent.getAgentState("u", "s");
    return { ...made, text: state?.summary ?? "" };
  };
  const five = {
    task_overview: "count $& turns",
    current_state: "at 5",
    important_discoveries: "none",
    next_steps: "go on",
    context_to_preserve: "be kind",
  };

  test("four sections by default", async () => {
    const { summaries } = await asked({}, "fine");
    const instruction = JSON.stringify(summaries()[0]?.messages.at(-1));
    for (const heading of ["SESSION INTENT", "SUMMARY", "ARTIFACTS", "NEXT STEPS"])
      expect(instruction).toContain(heading);
  });

  test("five fields with the preset, rendered by its template", async () => {
    const { text, summaries } = await asked(fiveFieldSummary, JSON.stringify(five));
    expect(text).toContain("# Task overview\ncount $& turns\n\n# Current state\nat 5");
    expect(text).toContain("# Context to preserve\nbe kind");
    expect(JSON.stringify(summaries()[0]?.messages.at(-1))).toContain("important_discoveries");
  });

  test("a model that can is held to the schema", async () => {
    const { summaries, text } = await asked(fiveFieldSummary, JSON.stringify(five), true);
    expect(summaries()[0]?.output).toMatchObject({ required: Object.keys(five) });
    expect(text).toContain("at 5");
  });

  test("an object in a code fence counts", async () => {
    const { text } = await asked(
      fiveFieldSummary,
      `Here:\n\`\`\`json\n${JSON.stringify(five)}\n\`\`\``,
    );
    expect(text).toContain("# Next steps\ngo on");
  });

  test("a reply that is no object, or not the right one, counts as text", async () => {
    expect((await asked(fiveFieldSummary, "We counted to five.")).text).toContain(
      "We counted to five.",
    );
    expect((await asked(fiveFieldSummary, '{"task_overview": "cut off')).text).toContain("cut off");
    expect((await asked(fiveFieldSummary, '{"other": "fields"}')).text).toContain("other");
  });

  test("a zod schema, with a template of one's own", async () => {
    const { text } = await asked(
      {
        summarySchema: z.object({ facts: z.array(z.string()), mood: z.string() }),
        summaryTemplate: "MOOD {mood}\nFACTS\n{facts}",
      },
      JSON.stringify({ facts: ["a {mood}", "b"], mood: "good" }),
    );
    expect(text).toContain("MOOD good\nFACTS\n- a {mood}\n- b");
  });

  test("a prompt with {messages} gets the conversation as text, whatever is in it", async () => {
    const made = setUp({
      options: {
        triggerMessages: 8,
        keepMessages: 3,
        summaryPrompt: "Shorten this:\n{messages}\nEND",
        summaryTemplate: "So far: {summary}",
      },
    });
    await made.agent.call("cost is $& and $' and {messages}", ctx);
    for (let turn = 1; turn < 5; turn++) await made.agent.call(`turn ${turn}`, ctx);
    const request = made.summaries()[0];
    expect(request?.tools).toEqual([]);
    const [block] = request?.messages[0]?.content ?? [];
    const text = block?.type === "hint" ? block.text : "";
    expect(text).toMatch(
      /^Shorten this:\n<conversation>\n\[User\]\ncost is \$& and \$' and \{messages\}\n/,
    );
    expect(text).toMatch(/<\/conversation>\nEND$/);
    const state = await made.agent.getAgentState("u", "s");
    expect(state?.summary).toContain("So far: They talked.");
  });
});

describe("a summariser of one's own", () => {
  test("gets the conversation as text, in pieces where its window is small, none of it left out", async () => {
    const small = scriptedModel((_, index) => `summary ${index}`, {
      id: "small",
      contextWindow: 1_500,
    });
    const { agent, summaries, context } = setUp({
      options: { triggerTokens: 6_000, keepTokens: 500, model: small },
    });
    for (let turn = 0; turn < 12; turn++)
      await agent.call(`fact-${turn} ${"word ".repeat(600)} tail-${turn}`, ctx);
    expect(summaries()).toEqual([]);
    expect(small.requests.length).toBeGreaterThan(3);
    const sent = small.requests.map(({ messages }) => JSON.stringify(messages)).join("\n");
    const left = JSON.stringify(await context());
    for (let turn = 0; turn < 12; turn++)
      for (const fact of [`fact-${turn} word`, `word  tail-${turn}`])
        expect([left.includes(fact), sent.includes(fact)]).toContain(true);
    expect(left.includes("fact-3")).toBe(false);
    expect(sent.includes("<summary_so_far>\\nsummary 0\\n")).toBe(true);
    const state = await agent.getAgentState("u", "s");
    expect(state?.summary).toMatch(/summary \d+/);
  });

  test("one that would rather call tools is asked again without any", async () => {
    const { agent, summaries } = setUp({
      summary: ({ tools }) =>
        tools.length > 0
          ? { toolCalls: [{ name: "note", input: { text: "x" } }] }
          : "Without tools.",
    });
    for (let turn = 0; turn < 5; turn++) await agent.call(`turn ${turn}`, ctx);
    expect(summaries()).toHaveLength(2);
    expect((await agent.getAgentState("u", "s"))?.summary).toContain("Without tools.");
  });
});

describe("where it went", () => {
  test("the summary names the place, and places of earlier parts are carried over", async () => {
    const offloader = new InMemoryOffloader();
    const { agent } = setUp({ agent: { offloader } });
    for (let turn = 0; turn < 14; turn++) await agent.call(`turn ${turn} ${long}`, ctx);
    const state = await agent.getAgentState("u", "s");
    const places = state?.summary?.match(/Read it with read_offloaded, reference "\w+"/g) ?? [];
    expect(places.length).toBeGreaterThan(2);
    expect(new Set(places).size).toBe(places.length);
  });

  test.each<[string, () => Promise<OffloadReference | string>, RegExp]>([
    [
      "reference",
      async () => ({ reference: "box 7", readBack: "Ask for it." }),
      /Ask for it\. Its reference is "box 7"\./,
    ],
    ["only answer, a string", async () => "box 7", /It is kept as "box 7"\./],
  ])("an offloader's %s is named in the summary", async (_, offloadContext, place) => {
    const offloader = { offloadContext, offloadToolResult: offloadContext };
    const { agent } = setUp({ agent: { offloader } });
    for (let turn = 0; turn < 5; turn++) await agent.call(`turn ${turn} ${long}`, ctx);
    expect((await agent.getAgentState("u", "s"))?.summary).toMatch(place);
  });

  test("an offloader that fails costs an event, not the compaction; offloadBeforeCompact: false asks none", async () => {
    let asked = 0;
    const offloader = {
      offloadContext: async () => {
        asked++;
        throw new Error("disk full of secrets");
      },
      offloadToolResult: async () => ({ reference: "", readBack: "" }),
    };
    const { agent, of } = setUp({ agent: { offloader } });
    for (let turn = 0; turn < 5; turn++) await agent.call(`turn ${turn}`, ctx);
    expect(of("compaction_end")).toHaveLength(1);
    expect(of("error")).toMatchObject([{ code: "OFFLOAD_FAILED" }]);
    expect(JSON.stringify(of("error"))).not.toContain("secrets");
    expect(asked).toBe(1);
    const without = setUp({
      options: { triggerMessages: 8, keepMessages: 3, offloadBeforeCompact: false },
      agent: { offloader },
    });
    for (let turn = 0; turn < 5; turn++) await without.agent.call(`turn ${turn}`, ctx);
    expect(without.of("compaction_end")).toHaveLength(1);
    expect(asked).toBe(1);
  });

  test("listeners for dropped messages are called first, unless switched off", async () => {
    const dropped: string[] = [];
    const listening: Middleware = {
      name: "listening",
      async onContextDrop(step, next) {
        dropped.push(...step.messages.map(textOf));
        await next();
      },
    };
    const { agent, summaries } = setUp({ agent: { middleware: [listening] } });
    for (let turn = 0; turn < 5; turn++) await agent.call(`turn ${turn}`, ctx);
    expect(dropped).toEqual(["turn 0", "fine", "turn 1", "fine", "turn 2", "fine"]);
    expect(summaries()).toHaveLength(1);
    dropped.length = 0;
    const silent = setUp({
      options: { triggerMessages: 8, keepMessages: 3, flushBeforeCompact: false },
      agent: { middleware: [listening] },
    });
    for (let turn = 0; turn < 5; turn++) await silent.agent.call(`turn ${turn}`, ctx);
    expect(dropped).toEqual([]);
  });
});

describe("stopping", () => {
  test("an interrupt during a summary ends the call, not the history", async () => {
    let stop: () => void = () => undefined;
    const { agent, context } = setUp({
      summary: () => {
        stop();
        return { text: "too late", delayMs: 60_000 };
      },
    });
    for (let turn = 0; turn < 4; turn++) await agent.call(`turn ${turn}`, ctx);
    stop = () => void agent.interrupt("u", "s");
    const reply = await agent.call("turn 4", ctx);
    expect(reply.reason).toBe("interrupted");
    const messages = await context();
    expect(
      messages
        .slice(0, 9)
        .map(textOf)
        .filter((text) => text.startsWith("turn")),
    ).toEqual(Array.from({ length: 5 }, (_, turn) => `turn ${turn}`));
  });
});

describe("without a Compactor", () => {
  test("an overflow is the caller's error", async () => {
    const { agent } = setUp({
      agent: { plugins: [] },
      reply: () => ({ error: new Error("prompt is too long: 300 tokens > 200 maximum") }),
    });
    const error = await agent.call("hello", ctx).catch((reason) => reason);
    expect(ContextOverflowError.is(error)).toBe(true);
    expect(error.limitTokens).toBe(200);
    expect(error.message).toContain('session "s"');
  });
});

describe("a summary that breaks off", () => {
  test("is asked for once more, shorter", async () => {
    const { agent, summaries } = setUp({
      summary: ({ messages }) =>
        JSON.stringify(messages.at(-1)).includes("broke off")
          ? "Complete."
          : { text: "It began wi", finish: "length" },
    });
    for (let turn = 0; turn < 5; turn++) await agent.call(`turn ${turn}`, ctx);
    expect(summaries()).toHaveLength(2);
    expect((await agent.getAgentState("u", "s"))?.summary).toContain("Complete.");
  });
});

describe("a compaction that would grow the context is none", () => {
  test("forced: the context stays as it was, and the reason is given", async () => {
    const wordy = "A summary that says more than was ever said. ".repeat(200);
    const { agent, of, context } = setUp({
      options: { triggerMessages: 0, keepMessages: 1 },
      summary: () => wordy,
    });
    for (let turn = 0; turn < 4; turn++) await agent.call(`turn ${turn} ${long}`, ctx);
    const before = await context();
    const result = await agent.compact("u", "s", { force: true });
    expect(result).toMatchObject({
      compacted: false,
      failure: "the context would not be smaller with the summary",
    });
    expect(result.tokensAfter).toBe(result.tokensBefore);
    expect(await context()).toEqual(before);
    expect((await agent.getAgentState("u", "s"))?.summary).toBeNull();
    expect(of("compaction_failed")).toMatchObject([{ cause: "manual" }]);
  });

  test("with messages so short that the header alone is longer, no model is asked", async () => {
    const { agent, summaries, context } = setUp({ options: { triggerMessages: 0 } });
    await agent.call("hi", ctx);
    await agent.call("ho", ctx);
    const result = await agent.compact("u", "s", { force: true, keepMessages: 1 });
    expect(result).toMatchObject({ compacted: false });
    expect(summaries()).toEqual([]);
    expect(await context()).toHaveLength(4);
  });
});

describe("what the options cannot know before there is a model is an event", () => {
  test("a ratio of a window that is not known: once, with the tokens at which it fires", async () => {
    const { agent, of } = setUp({ options: { triggerRatio: 0.5, reserveRatio: 0.1 } });
    for (let turn = 0; turn < 3; turn++) await agent.call(`turn ${turn}`, ctx);
    expect(of("compaction_warning")).toHaveLength(1);
    expect(of("compaction_warning")[0]?.warning).toMatch(
      /^triggerRatio is a fraction of the model's context window, which is not known: 180000 tokens are assumed, so that a compaction is due at 90000 tokens\. Give the model a contextWindow/,
    );
    const known = setUp({ options: { triggerRatio: 0.5 }, contextWindow: 100_000 });
    await known.agent.call("turn", ctx);
    expect(known.of("compaction_warning")).toEqual([]);
  });

  test("a tail that is not shorter than the trigger this model gets", async () => {
    const options = { triggerRatio: 0.5, keepTokens: 6_000 };
    const { agent, of } = setUp({ options, contextWindow: 10_000 });
    await agent.call("turn", ctx);
    await agent.call("turn", ctx);
    expect(of("compaction_warning").map(({ warning }) => warning)).toEqual([
      expect.stringMatching(/tail of 6000 tokens is not shorter than the trigger of 5000 tokens/),
    ]);
  });

  test("a field of the template that the summary leaves out", async () => {
    const { agent, of } = setUp({
      options: {
        triggerMessages: 8,
        keepMessages: 3,
        summarySchema: z.object({ a: z.string(), b: z.string().optional() }),
        summaryTemplate: "A {a} B {b}.",
      },
      summary: () => '{"a": "one"}',
    });
    for (let turn = 0; turn < 5; turn++) await agent.call(`turn ${turn} ${long}`, ctx);
    expect((await agent.getAgentState("u", "s"))?.summary).toContain("A one B .");
    expect(of("compaction_warning")).toMatchObject([
      { cause: "step", warning: expect.stringContaining("no value for {b} of summaryTemplate") },
    ]);
  });
});
