import type { BudgetScope, BudgetUse } from "./budget-events.js";

const owners: Readonly<Record<BudgetScope, string>> = {
  call: "this request",
  session: "this conversation",
  user: "your account",
};

/** Returns the reply that tells a person that a budget is used up, and what to do. */
export function exceededText(use: BudgetUse): string {
  return `I had to stop: the budget of ${owners[use.scope]} is used up (${amounts(use)}). ${remedy(use)}`;
}

/** Returns used and allowed amount, for example `120 of 100 tokens`. */
export function amounts({ unit, used, limit }: BudgetUse): string {
  if (unit === "tokens") return `${used} of ${limit} tokens`;
  return `${Number(used.toPrecision(6))} of ${limit} in money`;
}

function remedy({ scope, resetsAt }: BudgetUse): string {
  if (scope === "call") return "What was done so far is saved: send another message to go on.";
  if (scope === "session")
    return "What was done so far is saved. Start a new conversation, or ask for a higher limit.";
  if (resetsAt === undefined) return "What was done so far is saved. Ask for a higher limit.";
  return `What was done so far is saved. Go on after ${resetsAt}, or ask for a higher limit.`;
}
