import { HoldfastError, type Slot } from "@holdfast/core";
import type { BudgetUse } from "./budget-events.js";
import { amounts } from "./exceeded-text.js";

declare module "@holdfast/core" {
  interface ErrorCodes {
    readonly BUDGET_EXCEEDED: true;
  }
}

/** A request to a model was not sent, because a limit is used up. `use` says which. */
export class BudgetExceededError extends HoldfastError {
  override readonly name = "BudgetExceededError";
  readonly use: BudgetUse;

  constructor(purpose: string, { userId, sessionId }: Slot, use: BudgetUse) {
    const session = `session ${JSON.stringify(sessionId)}${userId === null ? "" : ` of user ${JSON.stringify(userId)}`}`;
    const until = use.resetsAt === undefined ? "" : ` until ${use.resetsAt}`;
    super(
      "BUDGET_EXCEEDED",
      `the ${purpose} request of ${session} was not sent: the budget per ${use.scope} is used up${until} (${amounts(use)}). Raise the limit in the options of budget()`,
    );
    this.use = use;
  }

  static override is(value: unknown): value is BudgetExceededError {
    return HoldfastError.is(value) && value.code === "BUDGET_EXCEEDED";
  }
}
