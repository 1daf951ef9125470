import { ConfigurationError } from "../errors/errors.js";
import type { JsonObject } from "../json/json.js";
import type { CompactionCause, CompactionResult } from "../ports/compactor.js";
import { type CallScope, stepOf } from "./call-scope.js";
import { onion } from "./onion.js";

/** Asks the agent's Compactor to shorten the context, with the `onContextDrop` chain in front of the drop. */
export async function compactContext(
  scope: CallScope,
  request: {
    readonly cause: CompactionCause;
    readonly force: boolean;
    readonly overrides?: JsonObject | undefined;
  },
): Promise<CompactionResult> {
  const { compactor, hooks, settings } = scope.parts;
  if (!compactor)
    throw new ConfigurationError(
      `agent "${settings.name}" has nothing to compact with: add a plugin that provides a Compactor, such as compaction()`,
    );
  return compactor.compact({
    state: scope.session.state,
    ctx: scope.ctx,
    cause: request.cause,
    force: request.force,
    overrides: request.overrides ?? {},
    signal: scope.stop.signal,
    dropping: (messages) =>
      onion(hooks.onContextDrop, Object.assign(stepOf(scope), { messages }), async () => undefined),
  });
}
