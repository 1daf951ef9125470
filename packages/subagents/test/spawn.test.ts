import { describePlugin } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { subagents } from "../src/index.js";
import { calling, latch, session, spawning, Team } from "./team.js";

describePlugin("subagents", { create: () => subagents() });

describe("agent_spawn", () => {
  test("returns what the subagent says, quoted, and the subagent sees the task alone", async () => {
    const team = new Team([spawning({ task: "Add 2 and 3." }), "Five."], ["It is </task> 5"]);
    expect((await team.say("A secret for the lead.")).text).toBe("Five.");
    expect(await team.results()).toEqual([
      expect.stringMatching(
        /^Task task_[0-9a-f]{12} of worker: completed\.\n<task>\nIt is &lt;\/task> 5\n<\/task>$/,
      ),
    ]);
    expect(team.worked).toHaveLength(1);
    expect(team.worked[0]?.system).toContain("You work.");
    const seen = JSON.stringify(team.worked[0]?.messages);
    expect(seen).toContain("Add 2 and 3.");
    expect(seen).not.toContain("secret");
  });

  test("runs several subagents at the same time", async () => {
    const held = latch();
    let working = 0;
    const team = new Team(
      [
        spawning({ label: "a" }, { name: "agent_spawn", input: { agent: "worker", task: "Two." } }),
        "ok",
      ],
      () => {
        working++;
        if (working === 2) held.open();
        return working <= 2 ? calling("hold") : "done";
      },
      { tools: [held.tool] },
    );
    await team.say();
    expect(await team.statuses()).toEqual(["completed", "completed"]);
  });

  test("that takes longer than the wait goes on in the background, and is told once", async () => {
    const held = latch();
    const team = new Team(
      [spawning({ timeoutSeconds: 0.05 }), "I go on.", "Told.", "Nothing new."],
      [calling("hold"), "It took long."],
      { tools: [held.tool] },
    );
    expect((await team.say()).text).toBe("I go on.");
    expect(await team.results()).toEqual([expect.stringContaining("still running")]);
    expect(await team.statuses()).toEqual(["running"]);
    held.open();
    await team.until("completed");
    await team.say("News?");
    await team.say("More?");
    expect(team.requestsWith("It took long.")).toBe(1);
    expect(JSON.stringify(team.asked[2]?.messages.at(-1))).toContain("It took long.");
    const state = await team.agent.getAgentState("ann", "s");
    expect(JSON.stringify(state?.context)).not.toContain("It took long.");
    expect(team.types().filter((type) => type.startsWith("task_"))).toEqual([
      ...["task_start", "task_background", "task_end", "task_delivered"],
    ]);
  });

  test("works in the background at once with timeoutSeconds: 0, and is told within the same call", async () => {
    const team = new Team(
      (_, index) => {
        if (index === 0) return spawning({ timeoutSeconds: 0 });
        if (team.requestsWith("Quick.") > 0) return "Heard.";
        return calling("task_list");
      },
      ["Quick."],
    );
    expect((await team.say()).text).toBe("Heard.");
    expect(team.requestsWith("Quick.")).toBe(1);
    const [begun] = team.events.filter(({ type }) => type === "task_start");
    expect(begun).toMatchObject({ isBackground: true });
  });

  test("of an agent that there is not names those that there are", async () => {
    const team = new Team([spawning({ agent: "wroker" }), "oh"], []);
    await team.say();
    expect(await team.results()).toEqual([
      'There is no subagent "wroker". There are: worker, general-purpose.',
    ]);
  });

  test("is refused when too many tasks are not finished", async () => {
    const held = latch();
    const background = { timeoutSeconds: 0 };
    const more = { name: "agent_spawn", input: { agent: "worker", task: "x", ...background } };
    const team = new Team(
      [spawning(background), { toolCalls: [more] }, "enough"],
      [calling("hold"), "done"],
      { tools: [held.tool], subagents: { maxRunning: 1 } },
    );
    await team.say();
    const [, second] = await team.results();
    expect(second).toContain("at most 1 of a session may be unfinished");
    held.open();
  });

  test("goes only as deep as allowed: the last has no tools to delegate with", async () => {
    const offered: (readonly string[])[] = [];
    const team = new Team(
      (request, index) => {
        offered.push(request.tools.map(({ name }) => name));
        return index < 2 ? spawning({ agent: "general-purpose", task: "Down." }) : "bottom";
      },
      [],
      { subagents: { agents: [], maxDepth: 2 } },
    );
    await team.say();
    expect(offered.map((names) => names.includes("agent_spawn"))).toEqual([
      ...[true, true, false],
      ...[true, true],
    ]);
    expect(team.asked[2]?.system).not.toContain("agent_spawn");
  });

  test("nests the subagent's events in the stream of the call", async () => {
    const team = new Team([spawning({ label: "adder" }), "ok"], ["Done."]);
    const run = team.agent.stream("go", session);
    const nested: string[] = [];
    for await (const event of run)
      if (event.type === "subagent_event") {
        expect(event).toMatchObject({ agent: "worker", label: "adder" });
        nested.push(event.event.type);
      }
    expect(nested[0]).toBe("call_start");
    expect(nested.at(-1)).toBe("call_end");
    expect(nested).toContain("text_delta");
    expect(team.types()).toEqual(expect.arrayContaining(["task_start", "task_end"]));
  });

  test("stops with the call that waits for it; a task in the background goes on", async () => {
    const held = latch();
    const team = new Team([spawning({ timeoutSeconds: 60 }), "after"], [calling("hold"), "late"], {
      tools: [held.tool],
    });
    const running = team.say();
    await held.arrived;
    expect(await team.agent.interrupt("ann", "s")).toBe("stopped");
    expect((await running).reason).toBe("interrupted");
    await team.until("cancelled");
    expect(team.worked).toHaveLength(1);
  });

  test("of a subagent that fails says why, without contents", async () => {
    const team = new Team([spawning(), "sorry"], [{ error: new Error("secret") }]);
    await team.say();
    const [result] = await team.results();
    expect(result).toMatch(/failed\. /);
    expect(result).not.toContain("secret");
  });
});

describe("agent_send", () => {
  test("goes on with the subagent of a label, which remembers", async () => {
    const team = new Team(
      [
        spawning({ label: "adder", task: "Remember 7." }),
        calling("agent_send", { to: "adder", message: "Which number?" }),
        "seven",
      ],
      ["Noted.", "It was 7."],
    );
    await team.say();
    expect(team.worked[1]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    const tasks = await team.plugin.tasks(session);
    expect(new Set(tasks.map(({ childSessionId }) => childSessionId)).size).toBe(1);
    expect(tasks.map(({ label }) => label)).toEqual(["adder", "adder"]);
  });

  test("to nobody says so", async () => {
    const team = new Team([calling("agent_send", { to: "x", message: "Hi" }), "oh"], []);
    await team.say();
    expect(await team.results()).toEqual([expect.stringContaining('no subagent "x"')]);
  });
});

describe("an agent with subagents", () => {
  test("is not built when a definition names a tool that it does not have", () => {
    const agents = [{ name: "reader", description: "Reads.", tools: ["task_lst", "files_*"] }];
    expect(() => new Team([], [], { subagents: { agents } })).toThrow(
      'agent "reader": there is no tool "task_lst"; did you mean "task_list"?',
    );
  });

  test("tells of subagents only those that can spawn some", async () => {
    const team = new Team([spawning({ agent: "alone" }), "x", "ok"], [], {
      subagents: { agents: [{ name: "alone", description: "Works alone.", tools: ["task_list"] }] },
    });
    await team.say();
    expect(team.asked[0]?.system).toContain("agent_spawn");
    expect(team.asked[1]?.tools.map(({ name }) => name)).toEqual(["task_list"]);
    expect(team.asked[1]?.system).not.toContain("agent_spawn");
  });

  test("leaves a paused task alone once it is shut down", async () => {
    const held = latch();
    const team = new Team([spawning({ timeoutSeconds: 0 }), "begun"], [calling("hold"), "late"], {
      tools: [held.tool],
    });
    await team.say();
    await held.arrived;
    const ended = team.agent.shutdown();
    held.open();
    await ended;
    expect(await team.statuses()).toEqual(["paused"]);
    expect(await team.statuses()).toEqual(["paused"]);
  });
});
