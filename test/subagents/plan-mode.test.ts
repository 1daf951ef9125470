import { definePlugin, type Tool, tool } from "@holdfast/core";
import { subagents } from "@holdfast/subagents";
import { eventually, type ScriptedToolCall } from "@holdfast/testing";
import { expect, test } from "vitest";
import { z } from "zod";
import { door } from "../engine/door.js";
import { agentOnDisk, allWritten, session, untouched, writes } from "../planning/agent-on-disk.js";
import { background, type Program, spawn } from "./program.js";
import { programReply } from "./team.mjs";

const agents = [{ name: "worker", description: "Works." }];
const enter: ScriptedToolCall = { name: "plan_enter", input: {} };
const exit: ScriptedToolCall = { name: "plan_exit", input: {} };

/** An agent on disk whose messages are programs, and which has subagents. */
async function team(...tools: readonly Tool[]) {
  const tasks = subagents({ agents });
  const more = definePlugin({
    ...{ name: "more", contract: 1 },
    setup: (host) => {
      for (const one of tools) host.tool(one);
    },
  });
  const disk = await agentOnDisk(() => programReply, { plugins: [tasks, more] });
  const run = (program: Program) => disk.agent.call(JSON.stringify(program), session);
  return { ...disk, tasks, run, all: writes(disk.elsewhere) };
}

/** Ways to give all writes to a subagent, or to a subagent of a subagent. */
const ways = {
  "a subagent": (calls: readonly ScriptedToolCall[]) => spawn([calls, "tried: $results"]),
  "a subagent's subagent": (calls: readonly ScriptedToolCall[]) =>
    spawn([[spawn([calls, "tried: $results"])], "$results"]),
};

test.each(Object.entries(ways))(
  "in plan mode nothing reaches the disk through %s, however it was entered; once the plan is approved, everything does",
  async (_, give) => {
    const { agent, run, all, written } = await team();
    await agent.enterPlanMode(session);
    const tried = await run([[give(all)], "$results"]);
    expect(tried.text.match(/ denied /g)).toHaveLength(all.length);
    expect(await written()).toEqual(untouched);
    await agent.exitPlanMode(session);
    const plan = { name: "plan_write", input: { content: "1. Write." } };
    const reply = await run([[enter], [give(all), plan], [exit], [give(all)], "$results"]);
    expect(reply).toMatchObject({ reason: "permission_asking", pending: [{ name: "plan_exit" }] });
    expect(await written()).toEqual(untouched);
    const confirm = "pending" in reply ? reply.pending : [];
    await agent.call(
      { confirm: confirm.map(({ toolCallId }) => ({ toolCallId, approve: true })) },
      session,
    );
    expect(await written()).toMatchObject(allWritten);
  },
);

test.each([
  ["before", (call: ScriptedToolCall) => [enter, call]],
  ["after", (call: ScriptedToolCall) => [call, enter]],
] as const)(
  "plan_enter %s agent_spawn in one step: the subagent cannot write",
  async (_, batch) => {
    const { run, all, written } = await team();
    const { text } = await run([batch(spawn([all, "tried: $results"])), "$results"]);
    expect(text.match(/ denied /g)).toHaveLength(all.length);
    expect(await written()).toEqual(untouched);
  },
);

test.each(["application", "agent"])(
  "plan mode that the %s enters stops the next write of a subagent that works in the background",
  async (who) => {
    const [reached, go] = [door(), door()];
    const wait = tool({
      ...{ name: "wait", description: "Waits.", input: z.object({}), readOnly: true },
      execute: async () => {
        reached.open();
        await go.opened;
        return "waited";
      },
    });
    const { agent, run, all, written, tasks } = await team(wait);
    await run([[background([[{ name: "wait", input: {} }], all, "tried: $results"])], "given"]);
    await reached.opened;
    if (who === "agent") await run([[enter], "planning"]);
    else await agent.enterPlanMode(session);
    go.open();
    await eventually(async () => (await tasks.tasks(session))[0]?.status === "completed");
    const [task] = await tasks.tasks(session);
    expect(task?.result?.match(/ denied /g)).toHaveLength(all.length);
    expect(await written()).toEqual(untouched);
  },
);
