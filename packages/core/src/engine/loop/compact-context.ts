import { isContextOverflow } from "../../errors/context-overflow.js";
import { errorName } from "../../errors/error-name.js";
import { ConfigurationError } from "../../errors/errors.js";
import type { JsonObject } from "../../json/json.js";
import type { CompactionCause, CompactionResult, RequestPrompt } from "../../ports/compactor.js";
import { compose } from "../assemble/compose.js";
import { type CallScope, stepOf } from "../call-scope.js";
import { writeAhead } from "../save/write-log.js";

/** Request to the Compactor. */
export interface CompactionOrder {
  readonly cause: CompactionCause;
  readonly force: boolean;
  readonly prompt: RequestPrompt;
  readonly overrides?: JsonObject | undefined;
  readonly limitTokens?: number | undefined;
}

/** Asks the agent's Compactor to shorten the context, with the `onContextDrop` chain in front of the drop. */
export async function compactContext(
  scope: CallScope,
  order: CompactionOrder,
): Promise<CompactionResult> {
  const { compactor, hooks, settings, model } = scope.parts;
  if (!compactor)
    throw new ConfigurationError(
      `agent "${settings.name}" has nothing to compact with: add a plugin that provides a Compactor, such as compaction()`,
    );
  const { slot, ctx, runId, state, signal, emit, mark } = stepOf(scope);
  const { cause, force, prompt, overrides = {}, limitTokens } = order;
  const work = compactor.compact({
    ...{ slot, ctx, runId, state, signal, emit, mark, model, cause, force, prompt, overrides },
    ...(limitTokens !== undefined && { limitTokens }),
    isOverflow: (error) => isContextOverflow(error, settings.overflowPatterns),
    dropping: async (messages) => {
      await writeAhead(scope);
      await compose(
        hooks.onContextDrop,
        Object.assign(stepOf(scope), { messages }),
        async () => undefined,
      );
    },
  });
  const result = await scope.stop.race(work);
  if (result.compacted) await writeAhead(scope);
  return result;
}

/** Compacts before a round of reasoning: a compactor that fails is an event, and the request is tried as it is. */
export async function compactBeforeStep(scope: CallScope, prompt: RequestPrompt): Promise<void> {
  try {
    await compactContext(scope, { cause: "step", force: false, prompt });
  } catch (error) {
    if (scope.stop.kind !== null) throw error;
    scope.emit({ type: "compaction_failed", cause: "step", error: errorName(error) });
  }
}
