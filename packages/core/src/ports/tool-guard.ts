import type { RuntimeContext } from "../context/runtime-context.js";
import type { ToolCallBlock } from "../message/message.js";
import type { Slot } from "../slot/slot.js";
import type { AgentState } from "../state/agent-state.js";
import type {
  PermissionMode,
  PermissionRule,
  RememberedRule,
  SuggestedRule,
} from "../state/sections.js";
import type { Tool } from "../tool/tool.js";

/** Decision about a tool call. `reason` is shown to the model on deny and to the person on ask. */
export type ToolDecision =
  | { readonly decision: "allow" }
  | { readonly decision: "deny"; readonly reason: string }
  | {
      readonly decision: "ask";
      readonly reason: string;
      /**
       * The narrowest rules that would have allowed exactly this call. A person may choose to remember them; once all of them
       * are, the engine takes this answer for an allow. Without suggestions a person is asked every time.
       */
      readonly suggestions?: readonly SuggestedRule[] | undefined;
    };

/** Tool call about to run. */
export interface GuardedCall {
  readonly call: ToolCallBlock;
  readonly tool: Tool;
  /** Input of the call, as the tool's schema validated it. */
  readonly input: unknown;
  readonly slot: Slot;
  readonly ctx: RuntimeContext;
  /** Returns the rules that were remembered for this session and this user; read once per call, when first asked for. */
  remembered(): Promise<readonly RememberedRule[]>;
}

/**
 * Decides whether a tool call may run.
 *
 * Contract:
 * - `check` has no side effects.
 * - With several guards a deny wins over an ask, and an ask over an allow.
 * - A person's approval answers an `ask`, not a `deny`: guards are consulted again before an approved call runs.
 * - Rules that a person chose to remember are kept by the engine, whichever guard suggested them.
 */
export interface ToolGuard {
  /** Decides about one call. */
  check(call: GuardedCall): ToolDecision | Promise<ToolDecision>;
  /**
   * Names what this guard goes by, beside its own options:
   * - `needsApproval` of the tools, which the engine then leaves to it
   * - `permissionMode` of the session, which `agent.setPermissionMode` sets
   * - `planMode` of the session, which `agent.enterPlanMode` sets
   *
   * @default none of them
   */
  readonly considers?: readonly ("needsApproval" | "permissionMode" | "planMode")[] | undefined;
  /** Returns the permission mode in force in a session, from a guard that considers it. */
  modeOf?(state: AgentState): PermissionMode;
  /**
   * Returns the problem of a rule that a person wants remembered, or null. A rule that nobody understands would never match
   * again, so that it is refused before it is stored.
   */
  ruleProblem?(rule: PermissionRule): string | null;
}
