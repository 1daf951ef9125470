import { join } from "node:path";
import { type AgentEvent, InMemoryAgentStateStore, type Plugin } from "@holdfast/core";
import { type BudgetOptions, budget } from "@holdfast/permissions";
import { eventually, scriptedModel, tempDirectory } from "@holdfast/testing";
import { expect, onTestFinished, test } from "vitest";
import { act, background, type Program, spawn } from "./program.js";
import { programReply, team } from "./team.mjs";

const session = { userId: "ann", sessionId: "s" };

/** Teams on one store in memory, whose requests cost 11 tokens each. */
async function world() {
  const directory = await tempDirectory();
  onTestFinished(directory.cleanup);
  const stateStore = new InMemoryAgentStateStore();
  const file = join(directory.path, "lines.txt");
  return (plugins: readonly Plugin[]) => {
    const events: AgentEvent[] = [];
    const model = scriptedModel((request, index) => {
      const reply = programReply(request, index) as { readonly text?: string };
      const usage = { inputTokens: 10, outputTokens: 1 };
      return typeof reply === "string" ? { text: reply, usage } : { ...reply, usage };
    });
    const made = team(
      { ...stateStore.companions(), stateStore },
      { file, model, plugins, onEvent: (event) => void events.push(event) },
    );
    onTestFinished(() => made.agent.close());
    const run = (program: Program) => made.agent.call(JSON.stringify(program), session);
    return { ...made, events, model, run };
  };
}

const limited = async (options: BudgetOptions) => (await world())([budget(options)]);
const child = spawn(["spent"]);

test("a call's budget counts what its subagents spend, and theirs, and stops both", async () => {
  const enough = await limited({ perCall: { tokens: 33 } });
  expect(await enough.run([[child], "$results"])).toMatchObject({ reason: "stop" });
  expect(enough.model.requests).toHaveLength(3);
  const short = await limited({ perCall: { tokens: 22 } });
  const ended = await short.run([[child], "$results"]);
  expect(ended).toMatchObject({ reason: "middleware_stop" });
  expect(ended.text).toContain("22 of 22 tokens");
  const deep = await limited({ perCall: { tokens: 22 } });
  expect(await deep.run([[spawn([[child], "$results"])], "$results"])).toMatchObject({
    reason: "middleware_stop",
  });
  // The first request, the subagent's, and none of the subagent's subagent.
  expect(deep.model.requests).toHaveLength(2);
});

test.each([
  ["session", { perSession: { tokens: 44 } }],
  ["user", { perUser: { tokens: 44 } }],
] as const)("a %s's budget counts what subagents spend in the background", async (_, options) => {
  const { run, tasks, model } = await limited(options);
  await run([[background([[act("look", "a")], "spent"])], "given"]);
  await eventually(async () => (await tasks.tasks(session))[0]?.status === "completed");
  expect(model.requests).toHaveLength(4);
  const reply = await run(["news"]);
  expect(reply.reason).toBe("middleware_stop");
  expect(reply.text).toContain("44 of 44 tokens");
});

test("a subagent in the background stops at the budget of the session that it works for", async () => {
  const { run, tasks, model } = await limited({ perSession: { tokens: 33 } });
  const looks = Array.from({ length: 5 }, () => [act("look", "a")]);
  await run([[background([...looks, "spent"])], "given"]);
  await eventually(async () => (await tasks.tasks(session))[0]?.endedAt !== null);
  expect(model.requests.length).toBeLessThanOrEqual(4);
});

test("a request that the budget refuses tells nothing: the model is told with the next one", async () => {
  const node = await world();
  const poor = node([budget({ perSession: { tokens: 33 } })]);
  await poor.run([[background(["result"])], "given"]);
  await eventually(async () => (await poor.tasks.tasks(session))[0]?.status === "completed");
  expect((await poor.run(["news"])).reason).toBe("middleware_stop");
  const rich = node([budget({ perSession: { tokens: 1_000 } })]);
  expect((await rich.run(["news"])).text).toMatch(/^\[told task_\w+ completed result\]news$/);
  expect((await rich.run(["news"])).text).toBe("news");
});

test("events of subagents are nested in those of the call that they work for", async () => {
  const { agent } = (await world())([]);
  const deep = spawn([[act("look", "a")], "deep"], { label: "below" });
  const program = JSON.stringify([[spawn([[deep], "$results"], { label: "above" })], "$results"]);
  const events: AgentEvent[] = [];
  for await (const event of agent.stream(program, session)) events.push(event);
  const own = events.map(({ type }) => type);
  expect(own.filter((type) => type === "call_start" || type === "call_end")).toHaveLength(2);
  expect(own.filter((type) => type === "task_start" || type === "task_end")).toEqual([
    "task_start",
    "task_end",
  ]);
  const of = (list: readonly AgentEvent[]) =>
    list.flatMap((one) => (one.type === "subagent_event" ? [one] : []));
  const above = of(events);
  expect(new Set(above.map(({ agent: name, label }) => `${name} ${label}`))).toEqual(
    new Set(["worker above"]),
  );
  const below = of(above.map(({ event }) => event));
  expect(new Set(below.map(({ label }) => label))).toEqual(new Set(["below"]));
  for (const list of [above, below]) {
    const types = list.map(({ event }) => event.type);
    expect(types.filter((type) => type === "call_start" || type === "call_end")).toEqual([
      "call_start",
      "call_end",
    ]);
  }
  expect(below.map(({ event }) => event.type)).toContain("tool_call_end");
  expect(events.at(-1)?.type).toBe("call_end");
});
