import { partBenches } from "../parts/part-benches.js";
import { recall } from "../recall/recall.js";
import { searchScale } from "../recall/search-scale.js";
import { coldStart } from "./cold-start.js";
import { growth } from "./growth.js";
import { hotSession } from "./hot-session.js";
import { manySessions } from "./many-sessions.js";
import type { Scenario } from "./scenario.js";
import { store } from "./store.js";
import { takeover } from "./takeover.js";
import { turns } from "./turns.js";

/** Scenarios that a run without names goes through, in this order. */
export const defaultScenarios: readonly Scenario[] = [
  turns,
  coldStart,
  manySessions,
  hotSession,
  growth,
  takeover,
];

/** All that can be run by name. */
export const allScenarios: readonly Scenario[] = [
  ...defaultScenarios,
  store,
  recall,
  searchScale,
  ...partBenches,
];
