import { InMemoryAgentStateStore, InMemoryFilesystem } from "@holdfast/core";
import { nastyIds } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { calls, hintsOf, Planner, session, writeNote } from "./planner.js";

const plan = "1. Look around.\n2. Write it down.";
const planFile = "plans/s.md";

async function planIn(filesystem: InMemoryFilesystem, sessionId = session.sessionId) {
  const files = await filesystem.list({ agentId: "planner", userId: "ann", sessionId });
  const bytes = await filesystem.read({ agentId: "planner", userId: "ann", sessionId }, planFile);
  return {
    paths: files.filter(({ kind }) => kind === "file").map(({ path }) => path),
    text: bytes && new TextDecoder().decode(bytes),
  };
}

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

describe("without a filesystem", () => {
  const agent = { filesystem: undefined };

  test("the plan is kept in the session, and shown in requests, ask and result", async () => {
    const planner = new Planner(
      [
        calls("plan_enter", ["plan_write", { content: plan }]),
        calls("look"),
        calls("plan_exit"),
        "done",
      ],
      { agent },
    );
    await planner.say();
    expect(planner.hints(1)[0]).toContain(plan);
    expect((await planner.agent.pending(session))[0]?.reason).toContain(plan);
    await planner.answer(true);
    expect((await planner.results()).at(-1)).toContain(plan);
    expect((await planner.state()).planModeContext.planFile).toBeNull();
    expect(planner.planningEvents()).toContainEqual({
      ...{ type: "plan_written", planFile: null, chars: plan.length },
    });
  });

  test("a plan that the state cannot hold is refused, and the old one stays", async () => {
    const large = "\u0001".repeat(20_000);
    const planner = new Planner(
      [
        calls("plan_enter", ["plan_write", { content: plan }]),
        calls(["plan_write", { content: large }]),
        calls("plan_exit"),
      ],
      { agent },
    );
    await planner.say();
    expect((await planner.results()).at(-1)).toMatch(/^plan_write error: .*at most 65536 are kept/);
    expect((await planner.agent.pending(session))[0]?.reason).toContain(plan);
  });
});

test("a plan over the limit is refused", async () => {
  const long = calls("plan_enter", ["plan_write", { content: "x".repeat(11) }]);
  const planner = new Planner([long, "ok"], { planning: { maxPlanChars: 10 } });
  await planner.say();
  expect((await planner.results()).join("\n")).toMatch(/plan_write error: /);
  expect((await planIn(planner.filesystem)).paths).toEqual([]);
});

test("a plan file that somebody made longer is shown up to the limit", async () => {
  const planner = new Planner(
    [calls("plan_enter", ["plan_write", { content: "short" }]), calls("plan_exit"), "ok"],
    { planning: { maxPlanChars: 10 } },
  );
  await planner.say();
  const slot = { agentId: "planner", ...session };
  await planner.filesystem.write(slot, planFile, new TextEncoder().encode("y".repeat(1_000)));
  const [asking] = await planner.agent.pending(session);
  expect(asking?.reason).toMatch(/:\n\ny{10}…$/);
  await planner.answer(true);
  expect((await planner.results()).at(-1)).toMatch(/\n\ny{10}…$/);
});

test("a plan file that cannot be read still asks, and says why it is not shown", async () => {
  const planner = new Planner([
    calls("plan_enter", ["plan_write", { content: plan }]),
    calls("plan_exit"),
  ]);
  planner.filesystem.read = async () => {
    throw Object.assign(new Error("secret path"), { code: "EIO" });
  };
  await planner.say();
  const [asking] = await planner.agent.pending(session);
  expect(asking?.reason).toContain("plans/s.md, cannot be shown: EIO.");
});

test("each session has a file of its own in its user's files, whatever it is called", async () => {
  const filesystem = new InMemoryFilesystem();
  const stateStore = new InMemoryAgentStateStore();
  const ids = nastyIds.slice(0, 40);
  for (const [index, sessionId] of ids.entries()) {
    const script = [calls("plan_enter", ["plan_write", { content: `plan ${index}` }]), "ok"];
    const { agent } = new Planner(script, { agent: { filesystem, stateStore } });
    await agent.call("go", { userId: "ann", sessionId });
  }
  const slot = { agentId: "planner", userId: "ann", sessionId: ids[0] ?? "" };
  const paths = (await filesystem.list(slot))
    .filter(({ kind }) => kind === "file")
    .map(({ path }) => path);
  expect(paths).toHaveLength(ids.length);
  for (const path of paths) expect(path).toMatch(/^plans\/[a-z0-9_%~-]+\.md$/);
});

test("the file goes with the session", async () => {
  const planner = new Planner([
    calls("plan_enter", ["plan_write", { content: plan }]),
    "ok",
    "hello",
  ]);
  await planner.say();
  await planner.agent.deleteSession(session);
  expect((await planIn(planner.filesystem)).paths).toEqual([]);
  await planner.say();
  expect(hintsOf(planner.requests.at(-1))).toEqual([]);
});
