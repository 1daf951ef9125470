import type { AgentState, Slot, ToolDecision, ToolGuard } from "@holdfast/core";
import { cutText, type GuardedCall, reasonOf } from "@holdfast/core/plugin-kit";
import type { PlanKeeper } from "./plan-keeper.js";
import type { PlanningSettings } from "./planning-options.js";

const allow: ToolDecision = { decision: "allow" };

/** Tells whether nobody is there to approve a plan: the permission mode in force never asks. */
export type IsUnattended = (state: AgentState) => boolean;

/**
 * Makes the guard of plan mode: while it is on, only tools that change nothing run, and leaving it asks a person, in every
 * permission mode and every time. It suggests no rule, so that no remembered one can answer in their place.
 */
export function planGuard(
  keeper: PlanKeeper,
  settings: PlanningSettings,
  isUnattended: IsUnattended,
): ToolGuard {
  const exit = async ({ slot, input }: GuardedCall, state: AgentState): Promise<ToolDecision> => {
    const refused = exitRefusal(state, isUnattended);
    if (refused !== null) return deny(refused);
    const plan = await shownPlan(keeper, slot, state, settings.maxPlanChars);
    if (plan === null)
      return deny("There is no plan yet. Write it with plan_write, then call plan_exit.");
    const { rationale } = input as { readonly rationale?: string };
    return {
      decision: "ask",
      reason: [
        "The agent asks to leave plan mode and to carry out its plan.",
        ...(rationale === undefined ? [] : [`Rationale: ${rationale}`]),
        plan,
      ].join("\n\n"),
    };
  };
  return {
    considers: ["planMode"],
    async check(call) {
      const { tool, ctx } = call;
      const state = ctx.agentState;
      if (!state) return allow;
      if (tool.name === "plan_exit") return exit(call, state);
      if (tool.name === "plan_enter" && isUnattended(state))
        return deny(
          "Plan mode cannot be entered here: nobody could approve the plan. Go on with the task.",
        );
      if (!state.planModeContext.active) return allow;
      if (tool.readOnly || settings.isAllowed(tool.name)) return allow;
      return deny(
        `Plan mode is on, and ${tool.name} may change something: only tools that read run until the plan is approved.`,
      );
    },
  };
}

/** Returns why the agent cannot leave plan mode, whatever its plan is; null when a person can be asked. */
export function exitRefusal(state: AgentState, isUnattended: IsUnattended): string | null {
  const { active, enteredBy } = state.planModeContext;
  if (!active) return "Plan mode is not on, so there is nothing to leave. Go on with the task.";
  if (enteredBy === "application")
    return "The application has put this session into plan mode and ends it itself. Once the plan is written, tell the user so and end your turn.";
  if (isUnattended(state))
    return "Nobody is there to approve the plan, so plan mode goes on. Once the plan is written, say so and end your turn.";
  return null;
}

/** Returns the plan for a person, with its place; null when there is none. A plan that cannot be read is no reason to fail. */
async function shownPlan(
  keeper: PlanKeeper,
  slot: Slot,
  state: AgentState,
  maxChars: number,
): Promise<string | null> {
  const path = keeper.path(slot);
  const title = path === null ? "The plan" : `The plan, ${path}`;
  try {
    const plan = await keeper.read(slot, state);
    return plan === null ? null : `${title}:\n\n${cutText(plan, maxChars)}`;
  } catch (error) {
    return `${title}, cannot be shown: ${reasonOf(error)}.`;
  }
}

function deny(reason: string): ToolDecision {
  return { decision: "deny", reason };
}
