import { eventually, scaled } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { sharedStores } from "../fleet/every-store.js";
import { about, act, background, type Program, send, spawn } from "./program.js";
import { session, teamNodes } from "./team-nodes.js";

/** A team on files in this process. */
async function oneNode(options: Parameters<Awaited<ReturnType<typeof teamNodes>>["here"]>[0] = {}) {
  const nodes = await teamNodes("files");
  const { agent, tasks } = nodes.here(options);
  const run = (program: Program) => agent.call(JSON.stringify(program), session);
  const statuses = async () => (await tasks.tasks(session)).map(({ status }) => status);
  return {
    ...{ nodes, agent, tasks, run, statuses },
    [Symbol.asyncDispose]: () => nodes[Symbol.asyncDispose](),
  };
}

test("a task that takes longer than the agent waits goes on in the background, and is told once", async () => {
  await using team = await oneNode();
  const { nodes, run, statuses, tasks } = team;
  const reply = await run([
    [spawn([[act("hold", "on")], "done"], { timeoutSeconds: 0.2 })],
    "$results",
  ]);
  expect(reply.text).toContain("is still running, in the background now");
  expect(await tasks.tasks(session)).toMatchObject([{ status: "running", isBackground: true }]);
  await nodes.release("on");
  await eventually(async () => (await statuses()).join() === "completed");
  const heard: string[] = [];
  const hear = async () => heard.push((await run(["news"])).text);
  // The record says that it has ended a moment before the process is done with it.
  await eventually(async () => (await hear()) > 0 && heard.join("").includes("[told"));
  await hear();
  await hear();
  expect(heard.join("").match(/\[told task_\w+ completed done\]/g)).toHaveLength(1);
  expect(await nodes.lines()).not.toContain("aborted on");
});

test("subagents at the greatest depth have no subagents", async () => {
  await using team = await oneNode({ bounds: { maxDepth: 2 } });
  const deepest = spawn([[spawn(["too deep"])], "deepest: $results"]);
  const { text } = await team.run([[spawn([[deepest], "middle: $results"])], "$results"]);
  expect(text).toMatch(/deepest: agent_spawn error/);
  expect(text).not.toContain("too deep");
});

test("of tasks that are given at once, no more begin than may run", async () => {
  await using team = await oneNode({ bounds: { maxRunning: 2 } });
  const { nodes, run, statuses } = team;
  const task = background([[act("hold", "on")], "done"]);
  const { text } = await run([[task, task, task, task], "$results"]);
  expect(text.match(/agent_spawn success/g)).toHaveLength(2);
  expect(text.match(/agent_spawn error \(Too many tasks: at most 2 of a session/g)).toHaveLength(2);
  await nodes.release("on");
  await eventually(async () => (await statuses()).join() === "completed,completed");
  expect((await run([[task], "$results"])).text).toContain("agent_spawn success");
});

test("messages reach a finished subagent, and a busy one in their order; one that asks is answered first", async () => {
  await using team = await oneNode({ rules: {} });
  const { nodes, run, statuses, tasks, agent } = team;
  const first = spawn([[act("look", "first")], "one"], { label: "clerk" });
  const { text } = await run([[first], [send("clerk", ["two"])], "$results"]);
  expect(text).toMatch(/<task>\none\n<\/task>.*<task>\ntwo\n<\/task>/s);
  const [task] = await tasks.tasks(session);
  expect(new Set((await tasks.tasks(session)).map((one) => one.childSessionId)).size).toBe(1);
  // Busy: by its label and by the id of a task.
  await run([
    [send("clerk", [[act("hold", "busy")], "three"], 0)],
    [send(task?.taskId ?? "", [[act("look", "fourth")], "four"], 0)],
    [send("clerk", [[act("look", "fifth")], "five"], 0)],
    "sent",
  ]);
  expect((await statuses()).slice(2)).toEqual(["running", "running", "running"]);
  await nodes.release("busy");
  await eventually(async () => (await statuses()).every((status) => status === "completed"));
  expect((await nodes.lines()).filter((line) => line.startsWith("look"))).toEqual([
    "look first",
    "look fourth",
    "look fifth",
  ]);
  // Waiting.
  await run([[send("clerk", [[act("note", "ask")], "six"], 0)], "sent"]);
  await eventually(async () => (await statuses()).includes("waiting"));
  const refused = await run([[send("clerk", ["seven"])], "$results"]);
  expect(refused.text).toContain("waits for the user to answer what it asks");
  const asked = await run([
    [about("task_output", (await tasks.tasks(session)).at(-1)?.taskId ?? "", { block: true })],
    "$results",
  ]);
  const confirm = ("pending" in asked ? asked.pending : []).map(({ toolCallId }) => ({
    toolCallId,
    approve: true,
  }));
  expect((await agent.call({ confirm }, session)).text).toContain("six");
  expect((await run([[send("clerk", ["seven"])], "$results"])).text).toContain("seven");
});

describe.concurrent.each(scaled(["files"], sharedStores))("on %s", (kind) => {
  test.each(["deleteSession", "deleteUser"])(
    "%s leaves nothing of subagents: sessions, logs, records",
    async (method) => {
      await using nodes = await teamNodes(kind);
      const { agent, tasks } = nodes.here({ agents: [{ name: "worker" }, { name: "other" }] });
      const deep = spawn([[spawn(["deep"], { agent: "other" })], "$results"]);
      const running = background([[act("stay", "on")], "never"]);
      const program = JSON.stringify([[deep, running, spawn(["plain"])], "$results"]);
      await agent.call(program, session);
      const kept = { userId: "bob", sessionId: "s" };
      await agent.call(JSON.stringify([[spawn(["kept"])], "$results"]), kept);
      const children = await nodes.slots();
      expect(children.filter(({ userId }) => userId === "ann")).toHaveLength(4);
      if (method === "deleteUser") await agent.deleteUser("ann");
      else await agent.deleteSession(session);
      expect((await nodes.slots()).map(({ userId }) => userId)).toEqual(["bob"]);
      expect(await tasks.tasks(session)).toEqual([]);
      expect(await tasks.tasks(kept)).toMatchObject([{ status: "completed", result: "kept" }]);
      for (const slot of children.filter(({ userId }) => userId === "ann"))
        expect(await nodes.logOf(slot)).toEqual([]);
      expect(await nodes.lines()).toContain("aborted on");
    },
  );

  test("a process that stood still past its leases neither completes a task that was reported lost nor goes on with it", async () => {
    await using nodes = await teamNodes(kind, 4_000);
    const stale = nodes.start();
    const child = [[act("hold", "on")], [act("look", "after")], "late"] as const;
    await stale.run([[background(child)], "given"]);
    await eventually(async () => (await nodes.lines()).includes("hold on"));
    process.kill(stale.process.pid, "SIGSTOP");
    const { agent, tasks } = nodes.here();
    const heard: string[] = [];
    await eventually(async () => {
      heard.push((await agent.call('["news"]', session)).text);
      return heard.join("").includes("[told");
    });
    process.kill(stale.process.pid, "SIGCONT");
    await nodes.release("on");
    // Once it has shut down, none of its calls goes on.
    await stale.ask("shutdown", { timeoutMs: 30_000 });
    expect(await nodes.lines()).not.toContain("look after");
    expect(await tasks.tasks(session)).toMatchObject([{ status: "lost", result: null }]);
    heard.push((await agent.call('["news"]', session)).text);
    expect(heard.join("").match(/\[told task_\w+ \w+/g)).toHaveLength(1);
  });

  test("a process that stood still past its leases does not stop the task that another has taken over", async () => {
    await using nodes = await teamNodes(kind, 4_000);
    const options = { agents: [{ name: "worker", repeatable: true }] };
    const stale = nodes.start(options);
    stale.send(
      "call",
      JSON.stringify([[spawn([[act("hold", "on")], "done"])], "$results"]),
      session,
    );
    const held = async () => (await nodes.lines()).filter((line) => line === "hold on").length;
    await eventually(async () => (await held()) === 1);
    process.kill(stale.process.pid, "SIGSTOP");
    const { agent, tasks } = nodes.here(options);
    const heard: string[] = [];
    const news = async () => void heard.push((await agent.call('["news"]', session)).text);
    await eventually(async () => {
      await news();
      return (await held()) === 2;
    });
    process.kill(stale.process.pid, "SIGCONT");
    await stale.ask("shutdown", { timeoutMs: 30_000 });
    expect(await tasks.tasks(session)).toMatchObject([{ status: "running", attempt: 2 }]);
    await nodes.release("on");
    await eventually(async () => {
      await news();
      return heard.join("").includes("[told");
    });
    await news();
    expect(heard.join("").match(/\[told[^\]]*\]/g)).toHaveLength(1);
    expect(heard.join("")).toMatch(/\[told task_\w+ completed done\]/);
  });
});
