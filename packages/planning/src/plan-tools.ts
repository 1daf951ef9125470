import { type AgentState, InvalidInputError, type Tool } from "@holdfast/core";
import { cutText, failedResult, isWellFormed, safeTool } from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";
import { exitRefusal, type IsUnattended } from "./plan-guard.js";
import type { PlanKeeper } from "./plan-keeper.js";
import { CallEvents } from "./planning-events.js";
import type { PlanningSettings } from "./planning-options.js";

/**
 * Makes the tools of plan mode. They count as reading: what they change is the agent's own plan and nothing else.
 *
 * `plan_enter` runs before the other calls of its step, so that a write beside it is stopped, and `plan_write` does, so that a
 * `plan_exit` beside it asks about the new plan. `plan_exit` does not: calls beside it are judged while plan mode is still on.
 */
export function planTools(
  keeper: PlanKeeper,
  { maxPlanChars }: PlanningSettings,
  isUnattended: IsUnattended,
): readonly Tool[] {
  const enter = safeTool({
    name: "plan_enter",
    description:
      "Enters plan mode, for a task that should be thought through before anything is changed. Only tools that read run then. Look around, write the plan with plan_write, and call plan_exit to have the user approve it.",
    input: s.object({}),
    readOnly: true,
    runsFirst: true,
    run(_, ctx) {
      const state = stateOf(ctx);
      const { active, planFile } = state.planModeContext;
      if (active) return "Plan mode is on already.";
      state.planModeContext = { active: true, planFile, enteredBy: "agent" };
      CallEvents.emit(ctx, { type: "plan_entered", planFile: keeper.path(ctx.slot) });
      return "Plan mode is on. Look around without changing anything, then write the plan with plan_write.";
    },
  });
  const write = safeTool({
    name: "plan_write",
    description: "Writes the plan, in plan mode only: replaces the whole of it.",
    input: s.object({
      content: s.string().min(1).max(maxPlanChars).describe("The whole plan, as Markdown"),
    }),
    readOnly: true,
    runsFirst: true,
    async run({ content }, ctx) {
      const state = stateOf(ctx);
      if (!state.planModeContext.active)
        return failedResult("Plan mode is not on, and nothing was written. Call plan_enter first.");
      if (!isWellFormed(content))
        return failedResult("content contains half of a surrogate pair. Nothing was written.");
      await keeper.write(ctx.slot, state, content);
      const planFile = keeper.path(ctx.slot);
      state.planModeContext = { ...state.planModeContext, planFile };
      CallEvents.emit(ctx, { type: "plan_written", planFile, chars: content.length });
      return planFile === null ? "The plan is kept." : `The plan is in ${planFile}.`;
    },
  });
  const exit = safeTool({
    name: "plan_exit",
    description:
      "Shows the plan to the user and asks them to approve it. Once they have, plan mode ends and you carry the plan out.",
    input: s.object({
      rationale: s.string().max(2_000).optional().describe("Why this plan, in a sentence or two"),
    }),
    readOnly: true,
    async run(_, ctx) {
      const state = stateOf(ctx);
      const refused = exitRefusal(state, isUnattended);
      if (refused !== null) return failedResult(refused);
      const plan = await keeper.read(ctx.slot, state);
      const { planFile } = state.planModeContext;
      state.planModeContext = { active: false, planFile };
      CallEvents.emit(ctx, { type: "plan_exited", planFile });
      return [
        `The user has approved the plan${planFile === null ? "" : ` in ${planFile}`}. Plan mode is off: begin with its first step now.`,
        ...(plan === null ? [] : [cutText(plan, maxPlanChars)]),
      ].join("\n\n");
    },
  });
  return [enter, write, exit];
}

/**
 * Returns the state of the session that a tool runs in.
 *
 * @throws InvalidInputError outside a call
 */
export function stateOf(ctx: { readonly agentState: AgentState | undefined }): AgentState {
  if (!ctx.agentState) throw new InvalidInputError("there is no session here");
  return ctx.agentState;
}
