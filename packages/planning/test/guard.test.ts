import { InMemoryFilesystem, type PlanModeContext, type Tool, tool } from "@holdfast/core";
import { describeToolGuard, type ExpectedDecision, fakePluginHost } from "@holdfast/testing";
import { expect, test } from "vitest";
import { z } from "zod";
import { type PlanningOptions, planning } from "../src/index.js";
import { look, writeNote } from "./planner.js";

const named = (name: string): Tool =>
  tool({ name, description: "Does something.", input: z.object({}) });

/** Decisions about every kind of tool, in a session that has no plan. */
function decisions(
  others: ExpectedDecision["decision"],
  [enter, exit]: readonly [ExpectedDecision["decision"], ExpectedDecision["decision"]],
): readonly ExpectedDecision[] {
  const own = fakePluginHost().install(planning()).tools;
  const of = (name: string): Tool => own.find((one) => one.name === name) ?? named(name);
  return [
    ...["plan_write", "todo_write"].map(
      (name) => ({ tool: of(name), input: {}, decision: "allow" }) as const,
    ),
    { tool: of("plan_enter"), input: {}, decision: enter },
    { tool: of("plan_exit"), input: {}, decision: exit },
    { tool: look, input: {}, decision: "allow" },
    { tool: writeNote([]), input: { text: "x" }, decision: others },
    // A server may be called "task", with a tool "cancel": a name lets nothing in.
    ...["execute", "task_cancel", "agent_spawn", "plan_", "plan_delete"].map(
      (name) => ({ tool: named(name), input: {}, decision: others }) as const,
    ),
  ];
}

function guard(options?: PlanningOptions) {
  const { toolGuard } = fakePluginHost().install(planning(options)).provided;
  if (!toolGuard) throw new Error("there is no guard");
  return toolGuard;
}

const inPlanMode = (enteredBy?: PlanModeContext["enteredBy"]): PlanModeContext => ({
  ...{ active: true, planFile: null },
  ...(enteredBy && { enteredBy }),
});

describeToolGuard("planning while plan mode is off", {
  create: () => guard(),
  calls: decisions("allow", ["allow", "deny"]),
});

for (const mode of ["default", "accept_edits", "explore", "bypass"] as const)
  describeToolGuard(`planning in plan mode, ${mode}`, {
    create: () => guard(),
    // There is no plan to approve yet.
    calls: decisions("deny", ["allow", "deny"]),
    prepare(state) {
      state.planModeContext = inPlanMode("agent");
      state.permissionContext.mode = mode;
      // Rules of another plugin do not widen plan mode.
      state.permissionContext.allow = [{ tool: "execute" }, { tool: "write_note" }];
    },
  });

describeToolGuard("planning in plan mode that nobody can end", {
  create: () => guard(),
  calls: decisions("deny", ["deny", "deny"]),
  prepare(state) {
    state.planModeContext = inPlanMode();
    state.permissionContext.mode = "dont_ask";
  },
});

describeToolGuard("planning while nobody can be asked", {
  create: () => guard(),
  calls: decisions("allow", ["deny", "deny"]),
  prepare(state) {
    state.permissionContext.mode = "dont_ask";
  },
});

for (const mode of ["default", "bypass"] as const)
  describeToolGuard(`planning with a plan, ${mode}`, {
    create() {
      const filesystem = new InMemoryFilesystem();
      // Whatever the session is called.
      filesystem.read = async () => new TextEncoder().encode("1. Look.");
      const host = fakePluginHost({ ports: { filesystem } }).install(planning());
      return host.provided.toolGuard as NonNullable<typeof host.provided.toolGuard>;
    },
    calls: decisions("deny", ["allow", "ask"]),
    prepare(state) {
      state.planModeContext = inPlanMode("agent");
      state.permissionContext.mode = mode;
    },
  });

for (const allow of [["execute"], (name: string) => name === "execute"])
  describeToolGuard("planning that lets one more tool in", {
    create: () => guard({ allow }),
    calls: [
      { tool: named("execute"), input: {}, decision: "allow" },
      { tool: named("agent_spawn"), input: {}, decision: "deny" },
      { tool: named("execute_all"), input: {}, decision: "deny" },
    ],
    prepare(state) {
      state.planModeContext = inPlanMode("application");
    },
  });

test("it tells the engine that plan mode is heeded, and nothing that it leaves to others", () => {
  expect(guard().considers).toEqual(["planMode"]);
});
