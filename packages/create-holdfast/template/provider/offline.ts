import "./env.js";
import type { Model } from "@holdfast/core";

/** Returns the model that answers: here always the script. `fromAiSdk(…)` of @holdfast/model-ai-sdk makes a real one. */
export function chooseModel(offline: Model): Model {
  return offline;
}

/** Says what to do for a real model; null when there is one. */
export function missingKey(): string | null {
  return "A script answers, because this project has no provider. README.md says how to add one, and where its key goes.";
}
