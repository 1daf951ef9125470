import type { ModelCallStep, Slot } from "@holdfast/core";
import { delegationOf } from "@holdfast/core/plugin-kit";
import type { BudgetUse } from "./budget-events.js";
import type { Spend } from "./spend.js";

/** Session and call that a spend is counted in; `state` is null where none can be written. */
export interface SpendingStep extends Pick<ModelCallStep, "state"> {
  readonly slot: Slot;
  readonly callId: string;
}

/**
 * Returns what the spends of a step are counted in: its own session, or the one that a subagent works for. The latter has a
 * state only while its call runs in this process.
 */
export function spendingStep({
  slot,
  ctx,
  state,
}: Pick<ModelCallStep, "slot" | "ctx" | "state">): SpendingStep {
  const delegation = delegationOf(ctx);
  if (!delegation) return { slot, callId: ctx.callId ?? "", state };
  const call = delegation.rootCall();
  return { slot: delegation.root, callId: call?.callId ?? "", state: call?.state ?? null };
}

/** Counts the spends of a call, a session or a user against a limit. */
export interface Account {
  /** Returns the limit that is used up, or null. */
  exceeded(step: SpendingStep): Promise<BudgetUse | null>;
  /** Counts a spend, and returns the limits of which the part to warn at is used for the first time. */
  add(step: SpendingStep, spend: Spend): Promise<readonly BudgetUse[]>;
}
