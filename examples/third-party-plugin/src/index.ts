export { type RedactionOptions, redaction } from "./redaction.js";
export { tokenBudget } from "./token-budget.js";
