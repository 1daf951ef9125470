export { planning } from "./planning.js";
export type { PlanningEvents } from "./planning-events.js";
export type { PlanningOptions } from "./planning-options.js";
