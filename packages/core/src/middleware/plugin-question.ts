import type { ModelQuestion } from "../plugin-kit/ask-model.js";
import type { Slot } from "../slot/slot.js";
import type { Step } from "./middleware.js";

/** Question of a plugin to a model, asked through the `onModelCall` hooks of the agent: see `host.askModel`. */
export interface PluginQuestion extends Omit<ModelQuestion, "emit"> {
  /** Step or compaction that asks; for work in the background, its session and an id for its events. */
  readonly from: QuestionOrigin;
}

/** Origin of a {@link PluginQuestion}: a step, a compaction, or work in the background. */
export type QuestionOrigin =
  | (Omit<Step, "runId" | "signal"> & { readonly runId?: string | undefined })
  | { readonly slot: Slot; readonly callId: string };
