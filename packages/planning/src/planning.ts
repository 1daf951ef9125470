import { definePlugin, type Plugin } from "@holdfast/core";
import { type IsUnattended, planGuard } from "./plan-guard.js";
import { keptPlanSchema, PlanKeeper } from "./plan-keeper.js";
import { planTools } from "./plan-tools.js";
import { CallEvents } from "./planning-events.js";
import { type PlanningOptions, readOptions } from "./planning-options.js";
import { planReminder, todoReminder } from "./reminders.js";
import { todoWriteTool } from "./todo-write.js";

/**
 * Adds plan mode and a todo list to an agent: `plan_enter`, `plan_write`, `plan_exit` and `todo_write`.
 *
 * - While plan mode is on, only tools that change nothing run; leaving it needs a person's approval, in every permission mode.
 * - A plan mode that the application entered, with `agent.enterPlanMode`, is left by the application only.
 * - The model is reminded of both at the end of each request; nothing of that is stored.
 * - Plan and list survive restarts, failovers and compactions: they are part of the session.
 *
 * @throws ConfigurationError for invalid options
 * @example
 * HarnessAgent.builder().name("coder").model(model).use(planning()).build();
 */
export function planning(options: PlanningOptions = {}): Plugin {
  const settings = readOptions(options);
  return definePlugin({
    name: "planning",
    contract: 1,
    setup(host) {
      const keeper = new PlanKeeper({
        filesystem: host.optional("filesystem"),
        kept: host.state({ schema: keptPlanSchema, initial: () => ({ plan: null }) }),
        directory: settings.planDirectory,
      });
      const guard = host.optional("toolGuard");
      const isUnattended: IsUnattended = (state) =>
        (guard()?.modeOf?.(state) ?? state.permissionContext.mode) === "dont_ask";
      for (const tool of planTools(keeper, settings, isUnattended)) host.tool(tool);
      host.tool(todoWriteTool());
      host.provide("toolGuard", planGuard(keeper, settings, isUnattended));
      host.onDelete((slot) => keeper.delete(slot));
      host.use({
        name: "planning",
        onCall(step, next) {
          step.ctx.put(CallEvents, new CallEvents((event) => step.emit(event)));
          return next();
        },
        async onReasoning(step, next) {
          const plan = await planReminder(keeper, step.slot, step.state, isUnattended);
          if (plan !== null) step.hint(plan, "plan_mode");
          const todos = todoReminder(step.state);
          if (todos !== null) step.hint(todos, "todos");
          return next();
        },
        onModelCall(step, next) {
          if (step.state && isUnattended(step.state))
            step.request = {
              ...step.request,
              tools: step.request.tools.filter(({ name }) => name !== "plan_enter"),
            };
          return next();
        },
      });
    },
  });
}
