import { ConfigurationError, InvalidInputError } from "../../errors/errors.js";
import type { ToolGuard } from "../../ports/tool-guard.js";
import type { AgentState } from "../../state/agent-state.js";
import { LiveState } from "../../state/live-state.js";
import { isSameRule, type PermissionRule, type RememberedRule } from "../../state/sections.js";
import type { AgentParts } from "../assemble/agent-parts.js";
import { permissionMode, rulesOptions } from "../method-options.js";
import type { Maintenance } from "./maintenance.js";
import { RememberedRules } from "./remembered-rules.js";
import type { NamedSession } from "./session-arguments.js";
import { storedState } from "./stored-state.js";

const PERMISSIONS = "permissions() of @holdfast/permissions";
const PLANNING = "planning() of @holdfast/planning";

/** Sets what the tools of a session may do: its permission mode, plan mode and remembered rules. */
export class SessionPermissions {
  readonly #parts: AgentParts;
  readonly #maintenance: Maintenance;

  constructor(parts: AgentParts, maintenance: Maintenance) {
    this.#parts = parts;
    this.#maintenance = maintenance;
  }

  async setMode({ slot, rest }: NamedSession): Promise<void> {
    const mode = permissionMode(rest[0]);
    this.#needGuard("setPermissionMode", "permissionMode", PERMISSIONS);
    await this.#maintenance.update(slot, (state) => {
      Object.assign(state.permissionContext, { mode, isModeSet: true });
    });
  }

  async enterPlanMode({ slot }: NamedSession): Promise<void> {
    this.#needGuard("enterPlanMode", "planMode", PLANNING);
    await this.#maintenance.update(slot, (state) => {
      const { planFile } = state.planModeContext;
      state.planModeContext = { active: true, planFile, enteredBy: "application" };
    });
  }

  async exitPlanMode({ slot }: NamedSession): Promise<void> {
    this.#needGuard("exitPlanMode", "planMode", PLANNING);
    await this.#maintenance.update(slot, (state) => {
      state.planModeContext = { active: false, planFile: state.planModeContext.planFile };
    });
  }

  async rules({ slot }: NamedSession): Promise<readonly RememberedRule[]> {
    const state = (await storedState(this.#parts, slot)) ?? LiveState.create(slot);
    return new RememberedRules(this.#parts, slot, state).all();
  }

  async remember({ slot, rest }: NamedSession): Promise<void> {
    const { scope, rules = [] } = rulesOptions(rest[0], "rememberRules");
    for (const rule of rules) {
      const problem = this.#parts.guard.ruleProblem?.(rule) ?? null;
      if (problem !== null) throw new InvalidInputError(`rememberRules: ${problem}`);
    }
    const add = (state: AgentState) =>
      new RememberedRules(this.#parts, slot, state).add(rules, scope);
    if (scope === "user") await add(LiveState.create(slot));
    else await this.#maintenance.update(slot, add);
  }

  /** Returns the number of rules that were removed. */
  async forget({ slot, rest }: NamedSession): Promise<number> {
    const { scope, rules } = rulesOptions(rest[0], "forgetRules");
    const isForgotten = (rule: PermissionRule) =>
      rules === undefined || rules.some((one) => isSameRule(one, rule));
    const removeFrom = (state: AgentState) =>
      new RememberedRules(this.#parts, slot, state).remove(scope, isForgotten);
    if (scope === "user") return removeFrom(LiveState.create(slot));
    let removed = 0;
    await this.#maintenance.update(slot, async (state) => {
      removed = await removeFrom(state);
    });
    return removed;
  }

  /** @throws ConfigurationError when no plugin heeds what is set */
  #needGuard(
    method: string,
    part: NonNullable<ToolGuard["considers"]>[number],
    plugin: string,
  ): void {
    const { guard, settings } = this.#parts;
    if (!guard.considers?.includes(part))
      throw new ConfigurationError(
        `${method} has no effect on agent "${settings.name}": none of its plugins heeds it; use ${plugin}`,
      );
  }
}
