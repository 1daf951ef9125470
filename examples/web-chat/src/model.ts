import type { Model } from "@holdfast/core";

/** Returns the model that answers: here always the script. A product returns `fromAiSdk(…)` of `@holdfast/model-ai-sdk`. */
export function chooseModel(offline: Model): Model {
  return offline;
}
