import { type ModelAnswer, type PluginQuestion, timeLimit } from "@holdfast/core/plugin-kit";
import { MemoryFailure } from "./memory-failure.js";
import type { MemoryParts } from "./memory-parts.js";

/** A question for the memory's model, with the signals that stop it. */
export interface TimedQuestion extends Omit<PluginQuestion, "model" | "signal"> {
  readonly stops: readonly AbortSignal[];
}

/**
 * Asks the memory's model, within the time that the settings allow.
 *
 * @throws MemoryFailure when the time is over
 */
export async function askInTime(
  { ask, model, settings: { timeoutMs } }: Pick<MemoryParts, "ask" | "model" | "settings">,
  { stops, ...question }: TimedQuestion,
): Promise<ModelAnswer> {
  const reason = () => new MemoryFailure(`the model gave no answer within ${timeoutMs} ms`);
  using limit = timeLimit(timeoutMs, { stops, reason });
  return await ask({ ...question, model, signal: limit.signal });
}
