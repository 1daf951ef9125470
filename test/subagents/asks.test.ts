import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type AgentReply, InMemoryAgentStateStore, type PendingCall } from "@holdfast/core";
import { eventually, scaled, tempDirectory } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { sharedStores } from "../fleet/every-store.js";
import { about, act, background, spawn } from "./program.js";
import { team } from "./team.mjs";
import { session, type TeamNode, teamNodes } from "./team-nodes.js";
import { toldIn } from "./told.js";

const options = { rules: {} };

function idsOf(reply: AgentReply | readonly PendingCall[]): readonly string[] {
  const pending = "reason" in reply ? ("pending" in reply ? reply.pending : []) : reply;
  return pending.map(({ toolCallId }) => toolCallId);
}

async function onlyId(node: TeamNode): Promise<string> {
  const [id, ...others] = idsOf(await node.pending());
  expect(others).toEqual([]);
  return id ?? "none";
}

describe.concurrent.each(scaled(["mysql"], sharedStores))("on %s", (kind) => {
  test("a subagent asks and its process is killed; another process finds the question and approves it with an edited input: the tool runs once", async () => {
    await using nodes = await teamNodes(kind);
    const asking = nodes.start(options);
    const child = spawn([[act("note", "wanted")], "noted: $results"], { label: "clerk" });
    const reply = await asking.run([[child], "heard: $results"]);
    expect(reply).toMatchObject({
      reason: "permission_asking",
      pending: [{ name: "note", agent: "worker", label: "clerk", input: { text: "wanted" } }],
    });
    await asking.kill9();
    const approving = nodes.start(options);
    const waiting = (await approving.waiting()).slots.map(({ slot }) => slot.sessionId);
    expect(waiting).toEqual(["s"]);
    expect(await approving.pending()).toEqual("pending" in reply ? reply.pending : []);
    const answer = {
      toolCallId: await onlyId(approving),
      approve: true,
      input: { text: "edited" },
    };
    const { text, reason } = await approving.confirm([answer]);
    expect(reason).toBe("stop");
    expect(text).toContain("noted: note success (note done)");
    expect(await nodes.lines()).toEqual(["note edited"]);
    expect(await approving.tasks()).toMatchObject([{ status: "completed", attempt: 1 }]);
    await expect(approving.confirm([answer])).rejects.toMatchObject({ code: "INVALID_INPUT" });
    expect((await approving.waiting()).slots).toEqual([]);
    expect(await nodes.lines()).toEqual(["note edited"]);
  });

  test("two questions of a subagent's subagent are answered by two processes, the second with a denial", async () => {
    await using nodes = await teamNodes(kind);
    const asking = nodes.start(options);
    const grandchild = spawn([[act("note", "a"), act("note", "b")], "did: $results"], {
      label: "deep",
    });
    await asking.run([[spawn([[grandchild], "passed on: $results"])], "heard: $results"]);
    await asking.kill9();
    const first = nodes.start(options);
    const pending = await first.pending();
    expect(pending).toMatchObject([
      { input: { text: "a" }, agent: "worker", label: "deep" },
      { input: { text: "b" }, agent: "worker", label: "deep" },
    ]);
    const [one = "", two = ""] = idsOf(pending);
    const rest = await first.confirm([{ toolCallId: two, approve: true }]);
    expect(rest).toMatchObject({ reason: "permission_asking", pending: [{ toolCallId: one }] });
    expect(await nodes.lines()).toEqual(["note b"]);
    await first.kill9();
    const second = nodes.start(options);
    expect(idsOf(await second.pending())).toEqual([one]);
    const twice = [{ toolCallId: two, approve: true }];
    await expect(second.confirm(twice)).rejects.toMatchObject({ code: "INVALID_INPUT" });
    const { text } = await second.confirm([
      { toolCallId: one, approve: false, reason: "Not that." },
    ]);
    expect(text).toContain("note denied (The user denied this call. Not that.)");
    expect(text).toContain("note success (note done)");
    expect(await nodes.lines()).toEqual(["note b"]);
  });

  test("a process is killed while a tool runs that a person approved for a subagent: it does not run again", async () => {
    await using nodes = await teamNodes(kind, 5_000);
    const rules = { rules: { ask: ["stay"] } };
    const asking = nodes.start({ rules });
    await asking.run([[spawn([[act("stay", "here")], "stayed"])], "heard: $results"]);
    const confirm = [{ toolCallId: await onlyId(asking), approve: true }];
    asking.send("call", { confirm }, { ...session, callId: "answer" });
    await eventually(async () => (await nodes.lines()).includes("stay here"), { what: "the tool" });
    await asking.kill9();
    const next = nodes.start({ rules });
    const reply = await next.confirm(confirm, { callId: "answer" });
    expect(reply.reason).toBe("stop");
    expect(reply.text).toContain("heard: agent_spawn interrupted");
    const heard = [reply.text];
    // The lease of the subagent's session may end after that of its parent's.
    await eventually(async () => {
      heard.push((await next.run(["news"])).text);
      return heard.slice(0, -1).join("").includes("[told");
    });
    expect(heard.join("").match(/\[told task_\w+ lost -\]/g)).toHaveLength(1);
    expect(await nodes.lines()).toEqual(["stay here"]);
    expect(await next.tasks()).toMatchObject([{ status: "lost" }]);
    expect((await next.waiting()).slots).toEqual([]);
  });

  test("a background subagent that asks is told once, and answered through task_output or by the program", async () => {
    await using nodes = await teamNodes(kind);
    const asking = nodes.start(options);
    const task = (text: string) => background([[act("note", text)], `${text}: $results`]);
    // One that asks at once is told in the same call already.
    const news = [(await asking.run([[task("one"), task("two")], "given"])).text];
    const statuses = async (node: TeamNode) => (await node.tasks()).map(({ status }) => status);
    const asked = () => news.join("").match(/\[asks /g)?.length ?? 0;
    await eventually(
      async () => {
        news.push((await asking.run(["news"])).text);
        return asked() >= 2;
      },
      { timeoutMs: 100_000, what: "the news of two questions" },
    );
    expect(asked()).toBe(2);
    expect((await asking.run(["news"])).text).toBe("news");
    expect(await statuses(asking)).toEqual(["waiting", "waiting"]);
    await asking.kill9();
    const next = nodes.start(options);
    expect((await next.run(["news"])).text).toBe("news");
    expect(await next.pending()).toEqual([]);
    // Through the model, which waits for it.
    const reply = await next.run([[about("task_output", "$task0", { block: true })], "$results"]);
    expect(reply).toMatchObject({ reason: "permission_asking", pending: [{ agent: "worker" }] });
    const answer = await next.confirm([{ toolCallId: idsOf(reply)[0] ?? "", approve: true }]);
    expect(answer.text).toContain("one: note success");
    // By the program, which asked the person itself.
    const [, waiting] = await next.tasks();
    const asks = await next.ask<readonly PendingCall[]>("asks", session, waiting?.taskId);
    expect(asks).toMatchObject([{ name: "note", agent: "worker", input: { text: "two" } }]);
    const confirm = asks.map(({ toolCallId }) => ({ toolCallId, approve: true }));
    await next.ask("confirm", session, waiting?.taskId, confirm);
    await eventually(async () => (await statuses(next)).join() === "completed,completed");
    expect((await next.run(["news"])).text).toMatch(/^\[told task_\w+ completed two: note success/);
    expect((await next.run(["news"])).text).toBe("news");
    expect(await nodes.lines()).toEqual(["note one", "note two"]);
  });
});

test("a denial that stops the turn stops the subagent too, and nothing runs", async () => {
  await using nodes = await teamNodes("files");
  const { agent, tasks } = nodes.here(options);
  const child = spawn([[act("note", "a")], [act("look", "b")], "did: $results"]);
  const reply = await agent.call(JSON.stringify([[child, act("note", "own")], "go on"]), session);
  const [id = "", own = ""] = idsOf(reply).toReversed();
  const confirm = [{ toolCallId: id, approve: false, reason: "Stop.", interrupt: true }];
  const ended = await agent.call({ confirm }, session);
  expect(ended.text).not.toContain("go on");
  expect(own).not.toBe("");
  expect(await agent.pending(session)).toEqual([]);
  expect(await nodes.lines()).toEqual([]);
  expect(await tasks.tasks(session)).not.toMatchObject([{ status: "waiting" }]);
  await agent.call('["news"]', session);
  const [task] = await tasks.tasks(session);
  expect(["completed", "cancelled"]).toContain(task?.status);
});

test("an interrupt of a session that waits for its subagent's question takes the question back", async () => {
  await using nodes = await teamNodes("files");
  const { agent, tasks } = nodes.here(options);
  await agent.call(JSON.stringify([[spawn([[act("note", "a")], "did"])], "end"]), session);
  expect(await agent.interrupt(session)).toBe("closed_asks");
  expect(await agent.pending(session)).toEqual([]);
  expect((await agent.call('["news"]', session)).reason).toBe("stop");
  expect(await tasks.tasks(session)).toMatchObject([{ status: "cancelled" }]);
  expect(toldIn(await agent.getAgentState(session))).toMatchObject([{ status: "cancelled" }]);
  expect(await nodes.lines()).toEqual([]);
});

test("a question is passed on by another node although the subagent's session is saved slowly", async () => {
  const stateStore = new InMemoryAgentStateStore();
  const save = stateStore.save.bind(stateStore);
  stateStore.save = async (slot, write) => {
    // Longer than the pause between two looks of the node that waits.
    if (slot.agentId !== "lead") await delay(1_500);
    return save(slot, write);
  };
  await using directory = await tempDirectory();
  const node = () =>
    team(
      { ...stateStore.companions(), stateStore },
      { ...options, file: join(directory.path, "lines.txt") },
    ).agent;
  const [running, waiting] = [node(), node()];
  const child = background([[act("nap", 500)], [act("note", "a")], "did: $results"]);
  await running.call(JSON.stringify([[child], "given"]), session);
  const output = about("task_output", "$task0", { block: true });
  const reply = await waiting.call(JSON.stringify([[output], "$results"]), session);
  expect(reply).toMatchObject({ reason: "permission_asking", pending: [{ agent: "worker" }] });
  const confirm = idsOf(reply).map((toolCallId) => ({ toolCallId, approve: true }));
  expect((await waiting.call({ confirm }, session)).text).toContain("note success");
  await Promise.all([running.close(), waiting.close()]);
});

test("a task that was taken over from a killed node and asks then is told, and can be answered", async () => {
  await using nodes = await teamNodes("files", 5_000);
  const repeatable = { ...options, agents: [{ name: "worker", repeatable: true }] };
  const dying = nodes.start(repeatable);
  const child = spawn([[act("hold", "on")], [act("note", "a")], "did: $results"]);
  dying.send("call", JSON.stringify([[child], "$results"]), session);
  await eventually(async () => (await nodes.lines()).includes("hold on"), { what: "the child" });
  await dying.kill9();
  await nodes.release("on");
  const { agent, tasks } = nodes.here(repeatable);
  const heard: string[] = [];
  await eventually(async () => {
    heard.push((await agent.call('["news"]', session)).text);
    return heard.join("").includes("[");
  });
  const [task] = await tasks.tasks(session);
  expect(heard.at(-1)).toContain(`[asks ${task?.taskId}]`);
  const output = about("task_output", task?.taskId ?? "", { block: true });
  const reply = await agent.call(JSON.stringify([[output], "$results"]), session);
  expect(reply).toMatchObject({ reason: "permission_asking", pending: [{ agent: "worker" }] });
  const confirm = idsOf(reply).map((toolCallId) => ({ toolCallId, approve: true }));
  expect((await agent.call({ confirm }, session)).text).toContain("did: hold success");
  expect((await nodes.lines()).filter((line) => line === "note a")).toHaveLength(1);
});

test("answers that die with their process before the subagent has them leave it asking", async () => {
  await using nodes = await teamNodes("files", 5_000);
  const dying = nodes.start({ ...options, losesAnswers: true });
  await dying.run([[spawn([[act("note", "a")], "did: $results"])], "$results"]);
  const confirm = [{ toolCallId: await onlyId(dying), approve: true }];
  dying.send("call", { confirm }, session);
  await dying.process.line("answered");
  await dying.kill9();
  // By its clock, the subagent has had the time to begin.
  const clock = () => new Date(Date.now() + 60_000);
  const { agent, tasks } = nodes.here({ ...options, clock });
  const { text } = await agent.call('["news"]', session);
  const [task] = await tasks.tasks(session);
  expect(text).toBe(`[asks ${task?.taskId}]news`);
  expect(await tasks.pending(session, task?.taskId ?? "")).toMatchObject(
    confirm.map(({ toolCallId }) => ({ toolCallId })),
  );
  await tasks.confirm(session, task?.taskId ?? "", confirm);
  await eventually(async () => (await tasks.tasks(session))[0]?.status === "completed");
  expect(await nodes.lines()).toEqual(["note a"]);
});

test("two calls of one step that wait for the same task ask its question once", async () => {
  await using nodes = await teamNodes("files");
  const { agent } = nodes.here(options);
  const output = about("task_output", "$task0", { block: true });
  const program = [[background([[act("note", "a")], "did"])], [output, output], "$results"];
  const reply = await agent.call(JSON.stringify(program), session);
  expect(idsOf(reply)).toHaveLength(1);
  const confirm = idsOf(reply).map((toolCallId) => ({ toolCallId, approve: true }));
  const { text, reason } = await agent.call({ confirm }, session);
  expect(reason).toBe("stop");
  expect(text).toContain("task_output error (Another call waits for task");
  expect(text).toMatch(/task_output success \(Task task_\w+ of worker: completed/);
  expect(await nodes.lines()).toEqual(["note a"]);
});
