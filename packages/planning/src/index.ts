export { planning } from "./planning.js";
export type { PlanningEvents } from "./planning-events.js";
export { delegationTools, type PlanningOptions } from "./planning-options.js";
