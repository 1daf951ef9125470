import type { AgentEvent } from "@holdfast/core";
import { eventually } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { calling, latch, session, spawning, Team } from "./team.js";

describe("task_output", () => {
  test("shows a result, which is then not told again", async () => {
    const held = latch();
    const team = new Team(
      async (_, index) => {
        if (index === 0) return spawning({ timeoutSeconds: 0 });
        if (index > 1) return "ok";
        held.open();
        const [task] = await team.plugin.tasks(session);
        return calling("task_output", { taskId: task?.taskId, block: true });
      },
      [calling("hold"), "The result."],
      { tools: [held.tool] },
    );
    await team.say();
    expect((await team.results())[1]).toContain("<task>\nThe result.\n</task>");
    await team.say("And?");
    // Once as a result of the tool, which stays in the conversation.
    const hints = team.asked.filter(({ messages }) =>
      JSON.stringify(messages.at(-1)).includes("Background tasks"),
    );
    expect(hints).toHaveLength(0);
  });

  test("without block shows how the task stands", async () => {
    const held = latch();
    const team = new Team(
      async (_, index) => {
        if (index === 0) return spawning({ timeoutSeconds: 0 });
        if (index > 1) return "ok";
        await held.arrived;
        const [task] = await team.plugin.tasks(session);
        return calling("task_output", { taskId: task?.taskId });
      },
      [calling("hold"), "x"],
      { tools: [held.tool] },
    );
    await team.say();
    expect((await team.results())[1]).toMatch(/of worker: still running\.$/);
    held.open();
  });

  test("of a task that there is not says so", async () => {
    const team = new Team([calling("task_output", { taskId: "task_x" }), "oh"], []);
    await team.say();
    expect(await team.results()).toEqual([expect.stringContaining('no task "task_x"')]);
  });
});

describe("task_cancel", () => {
  test("stops a task for good", async () => {
    const held = latch();
    const team = new Team(
      async (_, index) => {
        if (index === 0) return spawning({ timeoutSeconds: 0 });
        if (index > 1) return "ok";
        await held.arrived;
        const [task] = await team.plugin.tasks(session);
        return calling("task_cancel", { taskId: task?.taskId });
      },
      [calling("hold"), "never"],
      { tools: [held.tool] },
    );
    await team.say();
    expect((await team.results())[1]).toContain("cancelled");
    const ended = ({ slot, type }: AgentEvent) =>
      slot.agentId === "lead/worker" && type === "call_end";
    await eventually(() => team.events.some(ended));
    expect(await team.statuses()).toEqual(["cancelled"]);
    await team.say("And?");
    expect(team.requestsWith("Background tasks")).toBe(0);
  });
});

describe("listings", () => {
  test("name agents, children and tasks, and problems of files", async () => {
    const team = new Team(
      [spawning({ label: "adder" }), calling("agent_list"), calling("task_list"), "ok"],
      ["Done."],
    );
    await team.say();
    const [, agents, tasks] = await team.results();
    expect(agents).toContain("- worker: Does the work.");
    expect(agents).toMatch(/- worker "adder", last task task_\w+, completed: Work\./);
    expect(tasks).toMatch(/^- task_\w+: worker "adder", completed: Work\.$/);
  });

  test("the system prompt names the agents that can be spawned, and no hidden one", async () => {
    const team = new Team(["hello"], [], {
      subagents: {
        agents: [
          { name: "seen", description: "Is seen." },
          { name: "unseen", description: "Is not.", hidden: true },
        ],
      },
    });
    await team.say();
    expect(team.asked[0]?.system).toContain("- seen: Is seen.");
    expect(team.asked[0]?.system).not.toContain("unseen");
  });
});
