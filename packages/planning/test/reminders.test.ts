import { definePlugin, keepLastCompactor } from "@holdfast/core";
import { expect, test } from "vitest";
import { planning } from "../src/index.js";
import { calls, hintsOf, Planner, session } from "./planner.js";

const plan = "1. Look.";

test("there is no reminder while plan mode is off and no item is open", async () => {
  const done = { todos: [{ content: "Read", status: "completed" }] };
  const planner = new Planner(["hello", calls("look", ["todo_write", done]), "ok"]);
  await planner.say();
  await planner.say();
  for (const request of planner.requests) expect(hintsOf(request)).toEqual([]);
});

test("plan mode is told in every request: what runs, where the plan is, how it ends", async () => {
  const planner = new Planner([
    calls("plan_enter"),
    calls(["plan_write", { content: plan }]),
    calls("look"),
    "ok",
  ]);
  await planner.say();
  expect(planner.requests.map((request) => hintsOf(request).length)).toEqual([0, 1, 1, 1]);
  expect(planner.hints(1)[0]).toMatch(/Plan mode is on.*You have not written a plan yet/s);
  expect(planner.hints(2)[0]).toMatch(/Your plan is in plans\/s\.md.*call plan_exit/s);
});

test("open items are told in every request, with the plan that they follow", async () => {
  const todos = [{ content: "Read", status: "completed" }, { content: "Write" }];
  const planner = new Planner([
    calls("plan_enter", ["plan_write", { content: plan }]),
    calls("plan_exit"),
    calls(["todo_write", { todos }]),
    "That is all for now.",
    "hello again",
  ]);
  await planner.say();
  const reply = await planner.answer(true);
  // An open item is no reason to ask the model again.
  expect(reply).toMatchObject({ reason: "stop", text: "That is all for now." });
  expect(planner.hints()).toEqual([
    expect.stringMatching(
      /^Open items.*\nThe plan they follow is in plans\/s\.md\.\n\[ \] 2: Write$/,
    ),
  ]);
  await planner.say();
  expect(planner.hints()).toHaveLength(1);
});

test("requests differ from each other at their end alone, and reminders are not stored", async () => {
  const planner = new Planner([
    calls("look"),
    calls("plan_enter"),
    calls(["plan_write", { content: plan }], ["todo_write", { todos: [{ content: "Read" }] }]),
    calls("look"),
    "ok",
  ]);
  await planner.say();
  const stored = planner.requests.map(({ system, tools, messages }) => ({
    ...{ system, tools },
    messages: messages.filter(({ content }) => content.every(({ type }) => type !== "hint")),
  }));
  for (const [index, { system, tools, messages }] of stored.entries()) {
    expect({ system, tools }).toEqual({ system: stored[0]?.system, tools: stored[0]?.tools });
    // All that is no reminder comes before them, and the next request begins with it.
    expect(planner.requests[index]?.messages.slice(0, messages.length)).toEqual(messages);
    expect(stored[index + 1]?.messages.slice(0, messages.length) ?? messages).toEqual(messages);
  }
  const state = await planner.state();
  expect(state.toJson()).not.toMatch(/Plan mode is on: look|Open items/);
  const { log } = planner.stateStore.companions();
  const slot = { agentId: "planner", ...session };
  const logged = await log.read(slot);
  expect(logged.length).toBeGreaterThan(5);
  expect(JSON.stringify(logged)).not.toMatch(/Plan mode is on: look|Open items/);
});

test("plan mode and list outlast a compaction", async () => {
  const compactor = definePlugin({
    name: "short",
    contract: 1,
    setup: (host) => host.provide("compactor", keepLastCompactor({ keepMessages: 1 })),
  });
  const planner = new Planner(
    [
      calls("plan_enter", ["plan_write", { content: plan }]),
      calls(["todo_write", { todos: [{ content: "Read" }] }]),
      "ok",
      calls("write_note"),
      "ok",
    ],
    { agent: { plugins: [planning(), compactor] } },
  );
  await planner.say();
  await planner.agent.compact(session, { force: true });
  expect((await planner.state()).context.length).toBeLessThan(4);
  await planner.say();
  expect(planner.hints().join("\n")).toMatch(/plans\/s\.md.*\[ \] 1: Read/s);
  expect(planner.written).toEqual([]);
});
