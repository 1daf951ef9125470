import { describe, expect, test } from "vitest";
import { calls, Planner, session, writeNote } from "./planner.js";

const plan = "1. Look around.\n2. Write it down.";
const planFile = "plans/s.md";

describe.each([
  ["before", calls("plan_enter", "write_note", "look")],
  ["after", calls("look", "write_note", "plan_enter")],
])("plan_enter %s a write in one step", (_, batch) => {
  test("stops the write, and lets the read run", async () => {
    const planner = new Planner([batch, "ok"]);
    await planner.say();
    expect(planner.written).toEqual([]);
    const results = (await planner.results()).toSorted();
    expect(results).toEqual([
      "look success: seen",
      expect.stringMatching(/^plan_enter success: Plan mode is on\./),
      expect.stringMatching(/^write_note denied: Plan mode is on, and write_note may change/),
    ]);
    expect((await planner.state()).planModeContext).toEqual({
      ...{ active: true, planFile: null },
      enteredBy: "agent",
    });
  });
});

test("a call that waited for an approval when plan mode began does not run once it is approved", async () => {
  const written: string[] = [];
  const planner = new Planner([calls("write_note"), "ok"], {
    agent: { tools: [writeNote(written, true)] },
  });
  expect((await planner.say()).reason).toBe("permission_asking");
  await planner.agent.enterPlanMode(session);
  await planner.answer(true);
  expect(written).toEqual([]);
  expect(await planner.results()).toEqual([expect.stringMatching(/^write_note denied: Plan mode/)]);
});

describe("entered by the application", () => {
  test("it is not left by the agent, which is told how to end its turn", async () => {
    const planner = new Planner([
      calls("plan_enter", ["plan_write", { content: plan }], "write_note"),
      calls("plan_exit"),
      "The plan is ready.",
      calls("write_note"),
      "done",
    ]);
    await planner.agent.enterPlanMode(session);
    expect((await planner.say()).text).toBe("The plan is ready.");
    expect((await planner.results()).at(-1)).toMatch(/^plan_exit denied: The application has put/);
    expect(planner.hints()[0]).toContain("ends it itself");
    expect(planner.hints()[0]).not.toContain("call plan_exit");
    expect((await planner.state()).planModeContext).toEqual({
      ...{ active: true, planFile, enteredBy: "application" },
    });
    await planner.agent.exitPlanMode(session);
    await planner.say();
    expect(planner.written).toEqual(["note"]);
    expect(planner.hints()).toEqual([]);
  });
});

describe("in permission mode dont_ask", () => {
  async function unattended(planner: Planner): Promise<Planner> {
    await planner.agent.updateAgentState(session, (state) => {
      state.permissionContext.mode = "dont_ask";
    });
    return planner;
  }

  test("plan_enter is not offered, and denied if it is called", async () => {
    const planner = await unattended(new Planner([calls("plan_enter", "write_note"), "ok"]));
    await planner.say();
    const offered = planner.requests.map(({ tools }) => tools.map(({ name }) => name).toSorted());
    const others = ["look", "plan_exit", "plan_write", "todo_write", "write_note"];
    expect(offered).toEqual([others, others]);
    expect(await planner.results()).toEqual([
      expect.stringMatching(/^plan_enter denied: Plan mode cannot be entered here/),
      "write_note success: written",
    ]);
  });

  test("the prompt is the same as in any other mode", async () => {
    const attended = new Planner(["ok"]);
    await attended.say();
    const alone = await unattended(new Planner(["ok"]));
    await alone.say();
    expect(alone.requests[0]?.system).toBe(attended.requests[0]?.system);
  });

  test("an agent that is in plan mode already is told that nobody can approve", async () => {
    const planner = new Planner([
      calls("plan_enter", ["plan_write", { content: plan }]),
      "ok",
      calls("plan_exit"),
      "ok",
    ]);
    await planner.say();
    await unattended(planner);
    await planner.say();
    expect((await planner.results()).at(-1)).toMatch(/^plan_exit denied: Nobody is there/);
    expect(planner.hints()[0]).toContain("Nobody is there to approve");
  });
});
