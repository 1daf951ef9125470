import { expect, test } from "vitest";
import { calls, Planner, planIn, session } from "./planner.js";

const plan = "1. Look around.\n2. Write it down.";
const planFile = "plans/s.md";

test("a plan is written to a file of the session, approved, and carried out", async () => {
  const planner = new Planner([
    calls("plan_enter"),
    calls(["plan_write", { content: plan }]),
    calls(["plan_exit", { rationale: "It is short." }]),
    calls("write_note"),
    "done",
  ]);
  const reply = await planner.say();
  expect(reply.reason).toBe("permission_asking");
  const pending = await planner.agent.pending(session);
  expect(pending).toMatchObject([{ name: "plan_exit", input: { rationale: "It is short." } }]);
  expect(pending[0]?.reason).toContain("It is short.");
  expect(pending[0]?.reason).toContain(`${planFile}:\n\n${plan}`);
  expect(pending[0]).not.toHaveProperty("suggestions");
  expect(await planIn(planner.filesystem)).toEqual({ paths: [planFile], text: plan });
  expect((await planner.answer(true)).text).toBe("done");
  expect(planner.written).toEqual(["note"]);
  const results = await planner.results();
  expect(results.find((result) => result.startsWith("plan_exit"))).toMatch(
    /^plan_exit success: The user has approved the plan in plans\/s\.md\. Plan mode is off: begin.*\n\n1\. Look around/,
  );
  expect((await planner.state()).planModeContext).toEqual({ active: false, planFile });
  expect(planner.planningEvents()).toEqual([
    { type: "plan_entered", planFile },
    { type: "plan_written", planFile, chars: plan.length },
    { type: "plan_exited", planFile },
  ]);
});

test("a denial with a reason goes back to the model, and plan mode goes on", async () => {
  const script = [
    calls("plan_enter", ["plan_write", { content: plan }]),
    calls("plan_exit"),
    calls("write_note"),
    "I will think again.",
  ];
  const planner = new Planner(script);
  await planner.say();
  await planner.answer(false, "Not like that.");
  expect((await planner.results()).slice(-2)).toEqual([
    "plan_exit denied: The user denied this call. Not like that.",
    expect.stringMatching(/^write_note denied: Plan mode is on/),
  ]);
  expect(planner.written).toEqual([]);
  expect((await planner.state()).planModeContext.active).toBe(true);
  expect(planner.planningEvents()).not.toContainEqual(
    expect.objectContaining({ type: "plan_exited" }),
  );
});

test("a plan that is written beside plan_exit is the one that is asked about", async () => {
  const old = calls("plan_enter", ["plan_write", { content: "the old plan" }]);
  const both = calls("plan_exit", ["plan_write", { content: "the new plan" }]);
  const planner = new Planner([old, both]);
  await planner.say();
  const [asked] = planner.events.filter((event) => event.type === "permission_ask");
  expect(JSON.stringify(asked)).toContain("the new plan");
  expect(JSON.stringify(asked)).not.toContain("the old plan");
});

test("a write beside an approved plan_exit never runs", async () => {
  const planner = new Planner([
    calls("plan_enter", ["plan_write", { content: plan }]),
    calls("plan_exit", "write_note"),
    "done",
  ]);
  await planner.say();
  await planner.answer(true);
  expect(planner.written).toEqual([]);
});

test.each(["bypass", "accept_edits", "default"] as const)(
  "plan_exit asks every time in permission mode %s, also when a rule for it was remembered",
  async (mode) => {
    const planned = calls("plan_enter", ["plan_write", { content: plan }]);
    const planner = new Planner([planned, calls("plan_exit"), planned, calls("plan_exit")]);
    await planner.agent.updateAgentState(session, (state) => {
      state.permissionContext.mode = mode;
    });
    await planner.say();
    const pending = await planner.agent.pending(session);
    const remember = { scope: "user", rules: [{ tool: "plan_exit" }] } as const;
    const confirm = pending.map(({ toolCallId }) => ({ toolCallId, approve: true, remember }));
    expect((await planner.say({ confirm })).reason).toBe("permission_asking");
    expect(await planner.agent.rememberedRules(session)).toHaveLength(1);
    expect((await planner.state()).planModeContext.active).toBe(true);
  },
);

test("plan_exit without a plan is refused, and nobody is asked", async () => {
  const planner = new Planner([calls("plan_enter"), calls("plan_exit"), "ok"]);
  expect((await planner.say()).reason).toBe("stop");
  expect((await planner.results()).at(-1)).toMatch(/^plan_exit denied: There is no plan yet/);
});

test("plan_write and plan_exit outside plan mode are refused", async () => {
  const planner = new Planner([calls(["plan_write", { content: plan }]), calls("plan_exit"), "ok"]);
  await planner.say();
  expect(await planner.results()).toEqual([
    expect.stringMatching(/^plan_write error: Plan mode is not on, and nothing was written/),
    expect.stringMatching(/^plan_exit denied: Plan mode is not on/),
  ]);
  expect((await planIn(planner.filesystem)).paths).toEqual([]);
});
