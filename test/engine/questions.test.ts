import {
  type AgentReply,
  definePlugin,
  InMemoryAgentStateStore,
  InvalidInputError,
  type JsonObject,
  listGuard,
  type Message,
  type PendingCall,
  PendingConfirmationError,
  ReActAgent,
  type ReActAgentOptions,
  suspend,
  tool,
  toolResultsOf,
} from "@holdfast/core";
import type {
  IncomingStep,
  QuestionAnswer,
  ToolAnswer,
  ToolQuestion,
} from "@holdfast/core/plugin-kit";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { pairedModel, stateProblem } from "./valid-pairing.js";

const schema = {
  type: "object",
  properties: {
    city: { type: "string", minLength: 2 },
    nights: { type: "integer", minimum: 1, default: 3 },
  },
  required: ["city"],
};
const question: ToolQuestion = { message: "Where to?", schema };
const ran: (readonly ToolAnswer[])[] = [];

/** Asks as often as its input says, then tells the answers. */
const booking = tool({
  name: "booking",
  description: "Books a room.",
  input: z.object({ questions: z.number().default(1) }),
  execute: ({ questions }, { answers }) => {
    ran.push(answers);
    if (answers.length < questions)
      return suspend(`question ${answers.length + 1}`, {
        question: { ...question, message: `Where to? (${answers.length + 1})` },
      });
    return answers.map(({ action, content }) => ({ action, ...(content && { content }) }));
  },
});
const guard = definePlugin({
  name: "guard",
  contract: 1,
  setup: (host) => host.provide("toolGuard", listGuard({ ask: ["booking"] })),
});

function pendingOf(reply: AgentReply): readonly PendingCall[] {
  return "pending" in reply ? reply.pending : [];
}

describe.each([true, false])("a tool that asks a person, fused: %s", (fused) => {
  async function asked(
    inputs: readonly JsonObject[] = [{}],
    options: Partial<ReActAgentOptions> = {},
  ) {
    ran.length = 0;
    const stateStore = new InMemoryAgentStateStore({ fused });
    const toolCalls = inputs.map((input) => ({ name: "booking", input }));
    const model = pairedModel([{ toolCalls }, "done", "more"]);
    // Another agent for every call, as in another process.
    const make = () =>
      new ReActAgent({ name: "a", model, tools: [booking], stateStore, ...options });
    const reply = await make().call("go", { sessionId: "s" });
    const answer = (...answers: readonly QuestionAnswer[]) =>
      make().call({ answers }, { sessionId: "s" });
    const results = async () =>
      ((await make().getAgentState(null, "s"))?.context ?? [])
        .flatMap(toolResultsOf)
        .map(({ state, output }) => [state, output[0]?.type === "text" ? output[0].text : ""]);
    const stored = async () => {
      const loaded = await stateStore.load({ agentId: "a", userId: null, sessionId: "s" });
      return loaded && loaded !== "unchanged" ? loaded.head : {};
    };
    return { make, model, reply, pending: pendingOf(reply), answer, results, stored };
  }

  test("pauses with the question, which every process lists, and goes on with the answer", async () => {
    const { make, reply, pending, answer, results, stored } = await asked();
    expect(reply.reason).toBe("tool_suspended");
    expect(pending).toEqual([
      {
        toolCallId: expect.any(String),
        name: "booking",
        input: {},
        state: "suspended",
        reason: "question 1",
        question: { message: "Where to? (1)", schema },
        questionNumber: 1,
      },
    ]);
    expect(await make().pending(null, "s")).toEqual(pending);
    const [{ toolCallId }] = pending as [PendingCall];
    const end = await answer({ toolCallId, action: "accept", content: { city: "Oslo" } });
    expect(end.reason).toBe("stop");
    // Once to ask and once with the answer, whose empty field has its default.
    expect(ran.map((answers) => answers.length)).toEqual([0, 1]);
    const told = [{ action: "accept", content: { city: "Oslo", nights: 3 } }];
    expect(await results()).toEqual([["success", JSON.stringify(told)]]);
    expect(ran[1]?.[0]?.question).toEqual({ message: "Where to? (1)", schema });
    expect(await stored()).not.toHaveProperty("questions");
    const state = await make().getAgentState(null, "s");
    expect(state && stateProblem(state)).toBeNull();
  });

  test("gets all answers so far, in order, question after question", async () => {
    const { pending, answer, results } = await asked([{ questions: 3 }]);
    const [{ toolCallId }] = pending as [PendingCall];
    const second = await answer({ toolCallId, action: "decline" });
    expect(pendingOf(second)[0]?.question?.message).toBe("Where to? (2)");
    await answer({ toolCallId, action: "cancel" });
    await answer({ toolCallId, action: "accept", content: { city: "Rome", nights: 1 } });
    const told = [
      { action: "decline" },
      { action: "cancel" },
      { action: "accept", content: { city: "Rome", nights: 1 } },
    ];
    expect(await results()).toEqual([["success", JSON.stringify(told)]]);
  });

  test("answers one of two calls while the other goes on waiting", async () => {
    const { pending, answer, results } = await asked([{}, {}]);
    const [one, two] = pending as [PendingCall, PendingCall];
    const half = await answer({ toolCallId: two.toolCallId, action: "decline" });
    expect(half.reason).toBe("tool_suspended");
    expect(pendingOf(half)).toEqual([one]);
    const end = await answer({ toolCallId: one.toolCallId, action: "cancel" });
    expect(end.reason).toBe("stop");
    expect(await results()).toEqual([
      ["success", '[{"action":"decline"}]'],
      ["success", '[{"action":"cancel"}]'],
    ]);
  });

  test("refuses an answer that does not fit, names the field, and goes on waiting", async () => {
    const { make, pending, answer, stored } = await asked();
    const [{ toolCallId }] = pending as [PendingCall];
    const accept = (content: object) =>
      ({ toolCallId, action: "accept", content }) as QuestionAnswer;
    const before = await stored();
    for (const [bad, words] of [
      [accept({}), /content\.city is missing/],
      [accept({ city: 7 }), /content\.city must be a text/],
      [accept({ city: "x" }), /content\.city must have at least 2/],
      [accept({ city: "Oslo", nights: 0 }), /content\.nights must be at least 1/],
      [accept({ city: "Oslo", nights: 1.5 }), /content\.nights must be a whole number/],
      [accept({ city: "x".repeat(20_000) }), /content has more than 16384/],
      [{ toolCallId, action: "maybe" }, /action must be accept, decline, cancel/],
      [{ toolCallId, action: "decline", content: {} }, /content goes with action/],
      [{ toolCallId: "other", action: "accept" }, /"other".*does not wait for an answer/],
    ] as const) {
      const refused = answer(bad as QuestionAnswer);
      await expect(refused).rejects.toSatisfy(InvalidInputError.is);
      await expect(refused).rejects.toThrow(words);
    }
    expect(ran).toHaveLength(1);
    expect((await stored())["questions"]).toEqual(before["questions"]);
    expect(await make().pending(null, "s")).toEqual(pending);
    const end = await answer(accept({ city: "Oslo" }));
    expect(end.reason).toBe("stop");
  });

  test("takes a result from outside, a denial by a new message, and an interrupt instead", async () => {
    const outside = await asked();
    const [{ toolCallId }] = outside.pending as [PendingCall];
    await outside.make().call({ results: [{ toolCallId, output: "booked" }] }, { sessionId: "s" });
    expect(await outside.results()).toEqual([["success", "booked"]]);
    expect(await outside.stored()).not.toHaveProperty("questions");

    const denied = await asked();
    const words = /an answer to booking .*: \{ answers/;
    const refused = denied.make().call("hm?", { sessionId: "s" });
    await expect(refused).rejects.toSatisfy(PendingConfirmationError.is);
    await expect(refused).rejects.toThrow(words);
    await denied.make().call("never mind", { sessionId: "s", onPending: "deny" });
    expect((await denied.results())[0]?.[0]).toBe("denied");

    const stopped = await asked();
    expect(await stopped.make().interrupt(null, "s")).toBe("closed_asks");
    expect(await stopped.make().pending(null, "s")).toEqual([]);
    expect(await stopped.stored()).not.toHaveProperty("questions");
    expect(ran).toHaveLength(1);
  });

  test("is approved once, however often it asks", async () => {
    const { make, reply, pending, answer } = await asked([{}], { plugins: [guard] });
    expect(reply.reason).toBe("permission_asking");
    const [{ toolCallId }] = pending as [PendingCall];
    const approved = await make().call(
      { confirm: [{ toolCallId, approve: true }] },
      { sessionId: "s" },
    );
    expect(approved.reason).toBe("tool_suspended");
    expect(pendingOf(approved)[0]?.question?.message).toBe("Where to? (1)");
    const end = await answer({ toolCallId, action: "decline" });
    expect(end.reason).toBe("stop");
  });

  test("asks 20 questions at most", async () => {
    const { make, pending, results } = await asked([{ questions: 21 }]);
    const [{ toolCallId }] = pending as [PendingCall];
    let reply: AgentReply | undefined;
    for (let asks = 0; asks < 20; asks++)
      reply = await make().call(
        { answers: [{ toolCallId, action: "cancel" }] },
        { sessionId: "s" },
      );
    expect(reply?.reason).toBe("stop");
    expect(await results()).toEqual([["error", "booking asked more than 20 questions."]]);
  });

  test("is answered once when the answer is repeated by its callId", async () => {
    const { make, pending, model } = await asked();
    const [{ toolCallId }] = pending as [PendingCall];
    const again = () =>
      make().call(
        { answers: [{ toolCallId, action: "decline" }] },
        { sessionId: "s", callId: "answer-1" },
      );
    const first = await again();
    expect((await again()).runId).toBe(first.runId);
    expect(ran).toHaveLength(2);
    expect(model.requests).toHaveLength(2);
  });
});

test("what the questions of a session hold together is bounded", async () => {
  const long = tool({
    name: "long",
    description: "Asks at length.",
    input: z.object({}),
    execute: () =>
      suspend("asks", { question: { message: "?", schema: { title: "x".repeat(30_000) } } }),
  });
  const toolCalls = Array.from({ length: 6 }, () => ({ name: "long", input: {} }));
  const model = pairedModel([{ toolCalls }, "done"]);
  const agent = new ReActAgent({ name: "a", model, tools: [long] });
  const reply = await agent.call("go", { sessionId: "s" });
  expect(pendingOf(reply)).toHaveLength(4);
  const state = await agent.getAgentState(null, "s");
  const results = (state?.context ?? []).flatMap(toolResultsOf);
  expect(results.map((result) => result.state)).toEqual(["error", "error"]);
});

test("a question that cannot be asked is refused where it is made", () => {
  const ask = (value: object) => () => suspend("asks", { question: value as ToolQuestion });
  expect(ask({})).toThrow("question.message must be a text");
  expect(ask({ message: "x".repeat(9_000) })).toThrow("at most 8000");
  expect(ask({ message: "open", url: "javascript:alert(1)" })).toThrow("question.url must begin");
  expect(ask({ message: "fill in", schema: "string" })).toThrow("question.schema must be");
  expect(ask({ message: "both", schema: {}, url: "https://a.example" })).toThrow("either");
});

test("what a person fills in passes the onIncoming hooks before anything keeps it", async () => {
  const origins: string[] = [];
  const stateStore = new InMemoryAgentStateStore();
  const model = pairedModel([
    { toolCalls: [{ name: "booking", input: { questions: 2 } }] },
    "done",
  ]);
  const redacting = {
    name: "redacting",
    onIncoming: (message: Message, { origin, call }: IncomingStep) => {
      if (origin !== "answers") return message;
      origins.push(`${origin} of ${call?.name}`);
      const content = message.content.map((block) =>
        block.type === "tool_call" ? { ...block, input: { city: "[city]" } } : block,
      );
      return { ...message, content };
    },
  };
  const agent = new ReActAgent({
    name: "a",
    model,
    tools: [booking],
    middleware: [redacting],
    stateStore,
  });
  const reply = await agent.call("go", { sessionId: "s" });
  const [{ toolCallId }] = pendingOf(reply) as [PendingCall];
  const answers = [{ toolCallId, action: "accept", content: { city: "Hidden" } }] as const;
  await agent.call({ answers }, { sessionId: "s" });
  expect(origins).toEqual(["answers of booking"]);
  const stored = await stateStore.load({ agentId: "a", userId: null, sessionId: "s" });
  expect(JSON.stringify(stored)).toContain("[city]");
  expect(JSON.stringify(stored)).not.toContain("Hidden");
});
