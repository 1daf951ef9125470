import { tool } from "@holdfast/core";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { calling, pendingOf, session, spawning, Team } from "./team.js";

/** A tool that needs approval, and what it was called with. */
function payments() {
  const paid: number[] = [];
  const pay = tool({
    name: "pay",
    description: "Pays.",
    input: z.object({ amount: z.number() }),
    needsApproval: true,
    execute: ({ amount }) => {
      paid.push(amount);
      return "paid";
    },
  });
  return { pay, paid };
}

describe("what a subagent asks", () => {
  test("is asked by the session, with agent and label, and the answer reaches it", async () => {
    const { pay, paid } = payments();
    const team = new Team(
      [spawning({ label: "bills" }), "All paid."],
      [calling("pay", { amount: 5 }), "I paid."],
      { tools: [pay] },
    );
    const [asked] = pendingOf(await team.say());
    expect(asked).toMatchObject({
      ...{ name: "pay", input: { amount: 5 }, state: "asking", agent: "worker", label: "bills" },
      reason: 'Tool "pay" needs approval.',
    });
    expect(await team.agent.pending("ann", "s")).toEqual([asked]);
    expect(await team.statuses()).toEqual(["waiting"]);
    const toolCallId = asked?.toolCallId ?? "";
    const confirm = [{ toolCallId, approve: true, input: { amount: 7 } }];
    expect((await team.say({ confirm })).text).toBe("All paid.");
    expect(paid).toEqual([7]);
    expect(await team.statuses()).toEqual(["completed"]);
    expect((await team.results())[0]).toContain("I paid.");
  });

  test("is told to it when it is denied, with the reason", async () => {
    const { pay, paid } = payments();
    const team = new Team([spawning(), "ok"], [calling("pay", { amount: 5 }), "Then not."], {
      tools: [pay],
    });
    const [asked] = pendingOf(await team.say());
    const toolCallId = asked?.toolCallId ?? "";
    await team.say({ confirm: [{ toolCallId, approve: false, reason: "Too much." }] });
    expect(paid).toEqual([]);
    expect(JSON.stringify(team.worked[1]?.messages)).toContain("Too much.");
  });

  test("is asked through two levels", async () => {
    const { pay, paid } = payments();
    const team = new Team(
      [
        spawning({ agent: "general-purpose", task: "Have it paid." }),
        spawning({ label: "deep" }),
        "It was paid.",
        "ok",
      ],
      [calling("pay", { amount: 1 }), "paid deep"],
      { tools: [pay] },
    );
    const [asked] = pendingOf(await team.say());
    expect(asked).toMatchObject({ name: "pay", agent: "worker", label: "deep" });
    const toolCallId = asked?.toolCallId ?? "";
    expect((await team.say({ confirm: [{ toolCallId, approve: true }] })).text).toBe("ok");
    expect(paid).toEqual([1]);
  });

  test("is cancelled with the call that passed it on", async () => {
    const { pay, paid } = payments();
    const team = new Team([spawning(), "fine"], [calling("pay", { amount: 5 }), "never"], {
      tools: [pay],
    });
    await team.say();
    expect(await team.agent.interrupt("ann", "s")).toBe("closed_asks");
    expect((await team.say("Forget it.")).text).toBe("fine");
    expect(await team.statuses()).toEqual(["cancelled"]);
    expect(paid).toEqual([]);
    expect((await team.agent.sessions({ waiting: true })).slots).toEqual([]);
  });

  test("in the background is told once, and answered through task_output", async () => {
    const { pay, paid } = payments();
    const team = new Team(
      async (_, index) => {
        if (index === 0) return spawning({ timeoutSeconds: 0 });
        if (index === 1) {
          await team.until("waiting");
          return "begun";
        }
        const [task] = await team.plugin.tasks(session);
        return index === 2
          ? calling("task_output", { taskId: task?.taskId, block: true })
          : "settled";
      },
      [calling("pay", { amount: 3 }), "paid in the background"],
      { tools: [pay] },
    );
    expect((await team.say()).text).toBe("begun");
    const [asked] = pendingOf(await team.say("How is it?"));
    expect(team.requestsWith("wait for the user to approve")).toBe(1);
    const toolCallId = asked?.toolCallId ?? "";
    expect((await team.say({ confirm: [{ toolCallId, approve: true }] })).text).toBe("settled");
    expect(paid).toEqual([3]);
    expect((await team.results()).at(-1)).toContain("paid in the background");
  });

  test("in the background can be answered by the program", async () => {
    const { pay, paid } = payments();
    const team = new Team(
      [spawning({ timeoutSeconds: 0 }), "begun", "heard"],
      [calling("pay", { amount: 3 }), "paid at last"],
      { tools: [pay] },
    );
    await team.say();
    await team.until("waiting");
    const [waiting] = team.events.filter(({ type }) => type === "task_waiting");
    if (waiting?.type !== "task_waiting") throw new Error("nothing waits");
    const [asked] = waiting.pending;
    const answers = [{ toolCallId: asked?.toolCallId ?? "", approve: true }];
    await team.plugin.confirm(session, waiting.taskId, answers);
    await team.until("completed");
    expect(paid).toEqual([3]);
    await team.say("News?");
    expect(team.requestsWith("paid at last")).toBe(1);
  });
});

describe("answers of a program to a background task", () => {
  /** A team whose worker asks about a payment in the background. */
  async function asking() {
    const { pay, paid } = payments();
    const usage = { inputTokens: 100, outputTokens: 10 };
    const team = new Team(
      [spawning({ timeoutSeconds: 0 }), "begun", "heard"],
      [
        { toolCalls: [{ name: "pay", input: { amount: 3 } }], usage },
        { text: "paid at last", usage },
      ],
      { tools: [pay] },
    );
    await team.say();
    await team.until("waiting");
    const [task] = await team.plugin.tasks(session);
    return { team, paid, taskId: task?.taskId ?? "" };
  }

  test("name calls that it asks about, and nothing happens otherwise", async () => {
    const { team, paid, taskId } = await asking();
    const [asked] = await team.plugin.pending(session, taskId);
    const answer = { toolCallId: asked?.toolCallId ?? "", approve: true };
    const unclear = { toolCallId: answer.toolCallId } as typeof answer;
    const stray = { toolCallId: "nope", approve: true };
    for (const wrong of [[stray], [answer, stray], [], [answer, answer], [unclear]])
      await expect(team.plugin.confirm(session, taskId, wrong)).rejects.toMatchObject({
        code: "INVALID_INPUT",
      });
    expect(await team.statuses()).toEqual(["waiting"]);
    expect(paid).toEqual([]);
  });

  test("are about what pending lists, and all that the task used is counted", async () => {
    const { team, paid, taskId } = await asking();
    const [asked] = await team.plugin.pending(session, taskId);
    expect(asked).toMatchObject({ name: "pay", agent: "worker" });
    const answers = [{ toolCallId: asked?.toolCallId ?? "", approve: true }];
    await team.plugin.confirm(session, taskId, answers);
    await team.until("completed");
    expect(paid).toEqual([3]);
    const [task] = await team.plugin.tasks(session);
    expect(task?.usage).toEqual({ inputTokens: 200, outputTokens: 20 });
  });
});
