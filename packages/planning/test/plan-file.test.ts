import { InMemoryAgentStateStore, InMemoryFilesystem } from "@holdfast/core";
import { nastyIds } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { calls, hintsOf, Planner, planIn, session } from "./planner.js";

const plan = "1. Look around.\n2. Write it down.";
const planFile = "plans/s.md";

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

test("a plan file that was made longer is shown up to the limit", async () => {
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
