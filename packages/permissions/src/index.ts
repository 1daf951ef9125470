export { budget } from "./budget/budget.js";
export type { BudgetEvents, BudgetUse } from "./budget/budget-events.js";
export { BudgetExceededError } from "./budget/budget-exceeded-error.js";
export type { BudgetOptions } from "./budget/budget-options.js";
export type { SpendLimit } from "./budget/spend.js";
export { type LoopGuardOptions, loopGuard } from "./loop-guard.js";
export { permissions } from "./permissions.js";
export type { PermissionRules, PermissionsOptions } from "./permissions-options.js";
export { formatRule, type ParsedRule, parseRule } from "./rules/rule.js";
