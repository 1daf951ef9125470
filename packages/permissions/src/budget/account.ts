import type { ModelCallStep } from "@holdfast/core";
import type { BudgetUse } from "./budget-events.js";
import type { Spend } from "./spend.js";

/** The part of a step that accounts look at; `state` is null for work in the background. */
export type SpendingStep = Pick<ModelCallStep, "slot" | "ctx" | "state">;

/** Counts the spends of a call, a session or a user against a limit. */
export interface Account {
  /** Returns the limit that is used up, or null. */
  exceeded(step: SpendingStep): Promise<BudgetUse | null>;
  /** Counts a spend, and returns the limits of which the part to warn at is used for the first time. */
  add(step: SpendingStep, spend: Spend): Promise<readonly BudgetUse[]>;
}
