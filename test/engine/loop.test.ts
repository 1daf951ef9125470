import {
  EmptyReplyError,
  InMemoryAgentStateStore,
  type Message,
  ModelError,
  ReActAgent,
  textOf,
  tool,
  toolResultsOf,
} from "@holdfast/core";
import type { ScriptedReply } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { pairedModel, stateProblem } from "./valid-pairing.js";

const executed: number[] = [];
const count = tool({
  name: "count",
  description: "Notes a number.",
  input: z.object({ n: z.number() }),
  execute: ({ n }) => {
    executed.push(n);
    return `noted ${n}`;
  },
});

const calling = (n: number): ScriptedReply => ({
  toolCalls: [{ name: "count", input: { n } }],
});

function hintsOf(messages: readonly Message[] | undefined): readonly string[] {
  return (messages ?? []).flatMap(({ content }) =>
    content.flatMap((block) => (block.type === "hint" ? block.source : [])),
  );
}

describe.each([true, false])("the loop's limit, fused: %s", (fused) => {
  const agentWith = (model: ReturnType<typeof pairedModel>, maxIterations?: number) => {
    executed.length = 0;
    const stateStore = new InMemoryAgentStateStore({ fused });
    return new ReActAgent({ name: "a", model, tools: [count], stateStore, maxIterations });
  };

  test("is 10 by default: nine rounds of tools run, the tenth's calls are closed, one last call has no tools", async () => {
    const model = pairedModel((_, index) => (index < 10 ? calling(index) : "Nine of them done."));
    const agent = agentWith(model);
    const reply = await agent.call("count forever");
    expect(reply.reason).toBe("max_iterations");
    expect(reply.text).toBe("Nine of them done.");
    expect(executed).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    expect(model.requests).toHaveLength(11);
    expect(model.requests[9]?.tools).toHaveLength(1);
    expect(model.requests[10]?.tools).toEqual([]);
    const last = model.requests[10]?.messages ?? [];
    const closed = last.flatMap(toolResultsOf).at(-1);
    expect(closed?.state).toBe("error");
    expect(closed?.output).toEqual([
      { type: "text", text: "Not run: the limit of 10 steps was reached." },
    ]);
    expect(hintsOf(last)).toEqual(["max_iterations"]);
    const state = await agent.getAgentState();
    expect(state && stateProblem(state)).toBeNull();
    expect(hintsOf(state?.context)).toEqual([]);
    expect(textOf(state?.context.at(-1) as Message)).toBe("Nine of them done.");
  });

  test("leaves a session that goes on with the next call", async () => {
    const model = pairedModel((_, index) =>
      index < 2 ? calling(index) : index === 2 ? "Stopped." : "Going on.",
    );
    const agent = agentWith(model, 2);
    expect((await agent.call("count")).reason).toBe("max_iterations");
    const reply = await agent.call("go on");
    expect(reply.reason).toBe("stop");
    expect(executed).toEqual([0]);
  });

  test("gives a fixed text when the last model call fails", async () => {
    const model = pairedModel((_, index) =>
      index === 0 ? calling(0) : { error: new ModelError("down") },
    );
    const agent = agentWith(model, 1);
    const reply = await agent.call("count");
    expect(reply.reason).toBe("max_iterations");
    expect(reply.text).toBe(
      "I stopped after 1 steps before the task was finished. Ask me to go on.",
    );
    const state = await agent.getAgentState();
    expect(state?.context.at(-1)?.id).toBe(reply.message.id);
    expect(state && stateProblem(state)).toBeNull();
  });

  test("gives a fixed text when the last model call stays empty", async () => {
    const model = pairedModel((_, index) => (index === 0 ? calling(0) : { text: "" }));
    const reply = await agentWith(model, 1).call("count");
    expect(reply.reason).toBe("max_iterations");
    expect(reply.text).not.toBe("");
  });

  test.each([
    ["with text", { text: "Let me try.", ...(calling(7) as object) }, "Let me try."],
    ["without text", calling(7), "I reached the limit of steps for one request."],
  ])("runs no tool a model calls in its explanation, %s", async (_, explanation, text) => {
    const model = pairedModel((__, index) => (index === 0 ? calling(0) : explanation));
    const agent = agentWith(model, 1);
    const reply = await agent.call("count");
    expect(reply.reason).toBe("max_iterations");
    expect(reply.text).toBe(text);
    expect(executed).toEqual([]);
    const state = await agent.getAgentState();
    expect(state && stateProblem(state)).toBeNull();
  });
});

describe.each([true, false])("an empty reply, fused: %s", (fused) => {
  const agentWith = (model: ReturnType<typeof pairedModel>) =>
    new ReActAgent({ name: "a", model, stateStore: new InMemoryAgentStateStore({ fused }) });

  test.each<[string, ScriptedReply]>([
    ["nothing", { text: "" }],
    ["blanks", { text: " \n" }],
    ["thinking only", { thinking: "Hm." }],
    ["thinking and blanks", { thinking: "Hm.", text: " " }],
    ["nothing, cut by the length limit", { text: "", finish: "length" }],
  ])("of %s gets one reminder, which is not kept", async (_, empty) => {
    const model = pairedModel([empty, "Here I am."]);
    const agent = agentWith(model);
    const reply = await agent.call("hello?");
    expect(reply.text).toBe("Here I am.");
    expect(hintsOf(model.requests[0]?.messages)).toEqual([]);
    expect(hintsOf(model.requests[1]?.messages)).toEqual(["empty_reply"]);
    const state = await agent.getAgentState();
    expect(state?.context.map(textOf)).toEqual(["hello?", "Here I am."]);
    expect(state?.context.flatMap(({ content }) => content.map(({ type }) => type))).toEqual([
      "text",
      "text",
    ]);
  });

  test("twice is an EmptyReplyError, and the input is kept", async () => {
    const model = pairedModel([{ thinking: "Hm." }, { text: "" }, "Now."]);
    const agent = agentWith(model);
    await expect(agent.call("hello?", { sessionId: "s" })).rejects.toSatisfy(EmptyReplyError.is);
    expect(model.requests).toHaveLength(2);
    const state = await agent.getAgentState(null, "s");
    expect(state?.context.map(textOf)).toEqual(["hello?"]);
    await agent.call("still there?", { sessionId: "s" });
    expect(model.requests[2]?.messages.map(textOf)).toEqual(["hello?", "still there?"]);
  });
});

describe("how a model finishes", () => {
  test("with a length limit: what it said is the answer", async () => {
    const model = pairedModel([{ text: "Once upon a", finish: "length" }]);
    const reply = await new ReActAgent({ name: "a", model }).call("a story");
    expect(reply.reason).toBe("stop");
    expect(reply.text).toBe("Once upon a");
  });

  test("thinking before an answer is kept with it", async () => {
    const model = pairedModel([{ thinking: "Easy.", text: "4" }]);
    const reply = await new ReActAgent({ name: "a", model }).call("2+2");
    expect(reply.message.content).toEqual([
      { type: "thinking", text: "Easy." },
      { type: "text", text: "4" },
    ]);
    expect(reply.text).toBe("4");
  });
});
