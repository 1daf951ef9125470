import type { RuntimeContext } from "../context/runtime-context.js";
import type { ToolCallBlock } from "../message/message.js";
import type { PermissionRule } from "../state/sections.js";
import type { Tool } from "../tool/tool.js";

/** Decision about a tool call. `reason` is shown to the model on deny and to the person on ask. */
export type ToolDecision =
  | { readonly decision: "allow" }
  | { readonly decision: "deny"; readonly reason: string }
  | {
      readonly decision: "ask";
      readonly reason: string;
      /** Rules that a person may choose to remember. */
      readonly suggestions?: readonly PermissionRule[] | undefined;
    };

/** Tool call about to run. */
export interface GuardedCall {
  readonly call: ToolCallBlock;
  readonly tool: Tool;
  readonly ctx: RuntimeContext;
}

/**
 * Decides whether a tool call may run.
 *
 * Contract:
 * - `check` has no side effects.
 * - With several guards a deny wins over an ask, and an ask over an allow.
 * - A person's approval answers an `ask`, not a `deny`: guards are consulted again before an approved call runs.
 */
export interface ToolGuard {
  /** Decides about one call. */
  check(call: GuardedCall): ToolDecision | Promise<ToolDecision>;
  /** Called with the rules a person chose to remember when approving. */
  remember?(call: GuardedCall, rules: readonly PermissionRule[]): void | Promise<void>;
}
