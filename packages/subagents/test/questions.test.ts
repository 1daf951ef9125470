import {
  type AgentReply,
  InMemoryAgentStateStore,
  InMemoryKeyValueStore,
  InvalidInputError,
  type PendingCall,
  ReActAgent,
  suspend,
  tool,
} from "@holdfast/core";
import { eventually, scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { z } from "zod";
import { subagents } from "../src/index.js";

const session = { sessionId: "s" };
const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const clerk = { name: "clerk", description: "Books rooms.", tools: ["booking"] };
const booking = tool({
  name: "booking",
  description: "Books a room.",
  input: z.object({}),
  execute: (_, { answers }) =>
    answers.length < 2
      ? suspend("asks", { question: { message: `Where to? (${answers.length + 1})`, schema } })
      : answers.map(({ action, content }) => content?.["city"] ?? action).join(),
});

test("a question of a background task is not confirmed: it still waits for an answer", async () => {
  const input = { agent: "clerk", task: "Book.", timeoutSeconds: 0 };
  const worker = scriptedModel([{ toolCalls: [{ name: "booking", input: {} }] }]);
  const tasks = subagents({ agents: [{ ...clerk, model: worker }] });
  const agent = new ReActAgent({
    name: "guide",
    model: scriptedModel([{ toolCalls: [{ name: "agent_spawn", input }] }, "It is being booked."]),
    tools: [booking],
    plugins: [tasks],
  });
  await agent.call("Book a room.", session);
  await eventually(async () => (await tasks.tasks(session))[0]?.status === "waiting");
  const [task] = await tasks.tasks(session);
  const taskId = task?.taskId ?? "";
  const [question] = await tasks.pending(session, taskId);
  expect(question?.question?.message).toBe("Where to? (1)");
  const confirm = [{ toolCallId: question?.toolCallId ?? "", approve: true }];
  await expect(tasks.confirm(session, taskId, confirm)).rejects.toThrow(
    /is a question.*task_output/,
  );
  expect((await tasks.tasks(session))[0]?.status).toBe("waiting");
  expect(await tasks.pending(session, taskId)).toEqual([question]);
});

function asked(reply: AgentReply): PendingCall {
  return ("pending" in reply ? reply.pending[0] : undefined) as PendingCall;
}

test("a question of a subagent's tool is asked and answered through the session that it works for, in any process", async () => {
  const stores = {
    stateStore: new InMemoryAgentStateStore(),
    keyValue: new InMemoryKeyValueStore(),
  };
  const model = scriptedModel([
    { toolCalls: [{ name: "agent_spawn", input: { agent: "clerk", task: "Book." } }] },
    { toolCalls: [{ name: "booking", input: {} }] },
    "It is booked.",
    "The clerk has booked.",
  ]);
  const make = () =>
    new ReActAgent({
      name: "guide",
      model,
      tools: [booking],
      plugins: [subagents({ agents: [clerk] })],
      ...stores,
    });
  const first = await make().call("Book a room.", session);
  expect(first.reason).toBe("tool_suspended");
  expect(asked(first)).toMatchObject({
    agent: "clerk",
    name: "booking",
    question: { message: "Where to? (1)", schema },
  });
  const { toolCallId } = asked(first);
  expect(await make().pending(null, "s")).toEqual([asked(first)]);
  const answer = (action: "accept" | "decline", content?: { city?: string }) =>
    make().call({ answers: [{ toolCallId, action, ...(content && { content }) }] }, session);
  await expect(answer("accept", {})).rejects.toSatisfy(InvalidInputError.is);
  const second = await answer("accept", { city: "Oslo" });
  expect(asked(second).question?.message).toBe("Where to? (2)");
  const end = await answer("decline");
  expect([end.reason, end.text]).toEqual(["stop", "The clerk has booked."]);
  const results = model.requests.flatMap(({ messages }) =>
    JSON.stringify(messages.at(-1)?.content),
  );
  expect(results[2]).toContain("Oslo,decline");
});
