/** Events of `budget()`. */
export interface BudgetEvents {
  /** The part `warnAt` of a limit is used; once per limit and call, session or window. */
  readonly budget_warning: {
    readonly scope: "call" | "session" | "user";
    readonly unit: "tokens" | "money";
    readonly used: number;
    readonly limit: number;
    /** End of the window, ISO 8601; absent when the limit has none. */
    readonly resetsAt?: string | undefined;
  };
  /** A request was not sent, because a limit is used up. */
  readonly budget_exceeded: {
    readonly scope: "call" | "session" | "user";
    readonly unit: "tokens" | "money";
    readonly used: number;
    readonly limit: number;
    /** End of the window, ISO 8601; absent when the limit has none. */
    readonly resetsAt?: string | undefined;
    /** Purpose of the request: `reasoning` for the agent's own, which ends the turn. */
    readonly purpose: string;
  };
}

/** Use of one limit of a budget, as events and errors report it. */
export type BudgetUse = BudgetEvents["budget_warning"];

/** Party whose use is limited: by `perCall`, `perSession` or `perUser`. */
export type BudgetScope = BudgetUse["scope"];

declare module "@holdfast/core" {
  interface EventTypes extends BudgetEvents {}
}
