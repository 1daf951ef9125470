import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { InMemoryAgentStateStore } from "@holdfast/core";
import type { PermissionsOptions } from "@holdfast/permissions";
import { eventually, scaled, tempDirectory } from "@holdfast/testing";
import { expect, onTestFinished, test } from "vitest";
import { sharedStores } from "../fleet/every-store.js";
import { about, act, background, type Program, spawn } from "./program.js";
import { team } from "./team.mjs";
import { teamNodes } from "./team-nodes.js";

const session = { userId: "ann", sessionId: "s" };

async function newTeam(rules: PermissionsOptions) {
  const directory = await tempDirectory();
  onTestFinished(directory.cleanup);
  const file = join(directory.path, "lines.txt");
  const stateStore = new InMemoryAgentStateStore();
  const { agent, tasks } = team({ ...stateStore.companions(), stateStore }, { file, rules });
  onTestFinished(() => agent.close());
  return {
    agent,
    tasks,
    run: (program: Program, ctx = {}) =>
      agent.call(JSON.stringify(program), { ...session, ...ctx }),
    lines: async () => (await readFile(file, "utf8").catch(() => "")).split("\n").filter(Boolean),
  };
}

/** Calls of a subagent, and of a subagent's subagent. */
const levels = [
  ["a subagent", (program: Program) => spawn(program)],
  ["a subagent's subagent", (program: Program) => spawn([[spawn(program)], "$results"])],
] as const;

test.each(levels)("rules of the session hold for %s", async (_, give) => {
  const { run, lines, agent } = await newTeam({
    rules: { deny: ["note(secret)"], ask: ["look(private)"], allow: ["note(fine)"] },
  });
  const calls = [
    act("note", "secret"),
    act("look", "private"),
    act("note", "fine"),
    act("look", "any"),
  ];
  const reply = await run([[give([calls, "$results"])], "$results"]);
  expect(reply).toMatchObject({
    reason: "permission_asking",
    pending: [{ name: "look", input: { text: "private" }, agent: "worker" }],
  });
  expect((await lines()).toSorted()).toEqual(["look any", "note fine"]);
  const confirm = ("pending" in reply ? reply.pending : []).map(({ toolCallId }) => ({
    toolCallId,
    approve: true,
  }));
  const { text } = await agent.call({ confirm }, session);
  expect(text).toContain("note denied");
  expect(await lines()).toContain("look private");
  expect(await lines()).not.toContain("note secret");
});

test.each(levels)("modes of the session hold for %s, and change with it", async (_, give) => {
  const { run, lines, agent } = await newTeam({});
  const program = [[give([[act("note", "a"), act("look", "b")], "$results"])], "$results"] as const;
  for (const mode of ["explore", "dont_ask"] as const) {
    await agent.setPermissionMode(session, mode);
    expect((await run(program)).text).toContain("note denied");
  }
  expect(await lines()).toEqual(["look b", "look b"]);
  await agent.setPermissionMode(session, "bypass");
  expect((await run(program)).text).toContain("note success");
  await agent.setPermissionMode(session, "default");
  expect((await run(program)).reason).toBe("permission_asking");
});

test.each(levels)(
  "a rule that is remembered with an answer to %s holds for the next one and is the session's own",
  async (_, give) => {
    const { run, lines, agent } = await newTeam({});
    for (const [scope, text] of [
      ["session", "a"],
      ["user", "b"],
    ] as const) {
      const program = [[give([[act("note", text)], "$results"])], "$results"] as const;
      const reply = await run(program);
      const confirm = ("pending" in reply ? reply.pending : []).map(({ toolCallId }) => ({
        toolCallId,
        approve: true,
        remember: scope,
      }));
      await agent.call({ confirm }, session);
      expect((await run(program)).text).toContain("note success");
    }
    expect(await lines()).toEqual(["note a", "note a", "note b", "note b"]);
    expect(await agent.rememberedRules(session)).toEqual([
      { tool: "note", pattern: "a", scope: "session" },
      { tool: "note", pattern: "b", scope: "user" },
    ]);
    // The rule of the user holds in another session, that of the session does not.
    const other = { sessionId: "other" };
    expect((await run([[give([[act("note", "b")], "$results"])], "$results"], other)).reason).toBe(
      "stop",
    );
    expect((await run([[give([[act("note", "a")], "$results"])], "$results"], other)).reason).toBe(
      "permission_asking",
    );
    // The agent itself may do what it was allowed through its subagent.
    expect((await run([[act("note", "a")], "$results"])).text).toContain("note success");
    expect(await agent.forgetRules(session, { scope: "session" })).toBe(1);
    expect((await run([[give([[act("note", "a")], "$results"])], "$results"])).reason).toBe(
      "permission_asking",
    );
  },
);

test("the program cannot remember a rule with its answer to a background task: it would be nobody's", async () => {
  const { run, agent, tasks, lines } = await newTeam({});
  const task = background([[act("note", "a")], "$results"]);
  const reply = await run([[task], [about("task_output", "$task0", { block: true })], "$results"]);
  const [{ toolCallId } = { toolCallId: "" }] = "pending" in reply ? reply.pending : [];
  const [{ taskId } = { taskId: "" }] = await tasks.tasks(session);
  expect(await tasks.pending(session, taskId)).toMatchObject([{ toolCallId }]);
  const answer = { toolCallId, approve: true, remember: "session" as const };
  await expect(tasks.confirm(session, taskId, [answer])).rejects.toThrow(/cannot remember rules/);
  expect((await agent.call({ confirm: [answer] }, session)).text).toContain("note success");
  expect(await agent.rememberedRules(session)).toMatchObject([{ pattern: "a", scope: "session" }]);
  expect(await lines()).toEqual(["note a"]);
});

test.each(scaled(["redis"], sharedStores))(
  "on %s: plan mode, a mode and a rule of the session hold for a subagent that works on another node",
  async (kind) => {
    await using nodes = await teamNodes(kind);
    const [working, other] = [nodes.here({ rules: {} }), nodes.here({ rules: {} })];
    const steps = ["plan", "mode", "rule"].flatMap((name) => [
      [act("hold", name)],
      [act("note", "a")],
    ]);
    const program = [[background([...steps, "$results"])], "given"];
    await other.agent.setPermissionMode(session, "bypass");
    await working.agent.call(JSON.stringify(program), session);
    const held = (name: string) =>
      eventually(async () => (await nodes.lines()).includes(`hold ${name}`), { what: name });
    // The call that has entered plan mode goes on while the subagent tries to write.
    const enter = [[{ name: "plan_enter", input: {} }], [act("hold", "planning")], "planned"];
    const planning = other.agent.call(JSON.stringify(enter), session);
    await held("planning");
    await nodes.release("plan");
    await held("mode");
    await nodes.release("planning");
    await planning;
    await other.agent.exitPlanMode(session);
    await other.agent.setPermissionMode(session, "dont_ask");
    await nodes.release("mode");
    await held("rule");
    await other.agent.setPermissionMode(session, "default");
    const asked = await other.agent.call(JSON.stringify([[act("note", "a")], "noted"]), session);
    const confirm = ("pending" in asked ? asked.pending : []).map(({ toolCallId }) => ({
      ...{ toolCallId, approve: true, remember: "session" as const },
    }));
    await other.agent.call({ confirm }, session);
    await nodes.release("rule");
    await eventually(async () => (await other.tasks.tasks(session))[0]?.status === "completed");
    const [task] = await other.tasks.tasks(session);
    expect(task?.result?.match(/note (denied|success)/g)).toEqual([
      "note denied",
      "note denied",
      "note success",
    ]);
    expect((await nodes.lines()).filter((line) => line === "note a")).toHaveLength(2);
  },
);
