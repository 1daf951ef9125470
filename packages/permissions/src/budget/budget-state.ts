import type { PluginHost, PluginState } from "@holdfast/core";
import * as s from "@holdfast/core/plugin-kit/schema";
import type { BudgetScope, BudgetUse } from "./budget-events.js";
import {
  addSpend,
  limitsReached,
  nothingSpent,
  type Spend,
  type SpendLimit,
  type SpendUnit,
} from "./spend.js";

/** Count in a session's state; `warned` has the units that a warning was emitted for. */
export type StateCount = {
  tokens: number;
  money: number;
  warned: SpendUnit[];
};

/** State of `budget()` in a session. */
export type BudgetState = {
  session: StateCount;
  /** Count of the last call that was counted. */
  call: { callId: string; count: StateCount } | null;
};

const amount = s.number().min(0);
const stateCount = s.object({
  tokens: amount,
  money: amount,
  warned: s.array(s.enum(["tokens", "money"])),
});
const budgetState: s.Schema<BudgetState> = s.object({
  session: stateCount,
  call: s.object({ callId: s.string(), count: stateCount }).nullable(),
});

/** Returns a count of nothing. */
export function newCount(): StateCount {
  return { ...nothingSpent, warned: [] };
}

/** Declares the plugin's part of a session's state. */
export function declareBudgetState(host: PluginHost): PluginState<BudgetState> {
  return host.state({
    schema: budgetState,
    initial: () => ({ session: newCount(), call: null }),
  });
}

/** Limit of a call or a session, and the part of it to warn at. */
export interface StateLimit {
  readonly limit: SpendLimit;
  readonly warnAt: number;
}

/** Returns the count with a spend added, and the limits to warn of: those that `total` reaches for the first time. */
export function counted(
  count: StateCount,
  spend: Spend,
  total: Spend,
  scope: BudgetScope,
  { limit, warnAt }: StateLimit,
): { readonly count: StateCount; readonly warnings: readonly BudgetUse[] } {
  const reached = limitsReached(limit, total, warnAt);
  const warnings = reached.filter(({ unit }) => !count.warned.includes(unit));
  const warned = [...count.warned, ...warnings.map(({ unit }) => unit)];
  return {
    count: { ...addSpend(count, spend), warned },
    warnings: warnings.map((use) => ({ scope, ...use })),
  };
}
