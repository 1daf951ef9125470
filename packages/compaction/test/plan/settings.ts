import {
  readCompactionOptions,
  type TruncateArgs,
  type TruncateArgsOptions,
} from "../../src/compaction-options.js";
import type { Prune, PruneOptions } from "../../src/index.js";

/** The settings of a step that is switched on. */
export function truncating(options: TruncateArgsOptions): TruncateArgs {
  const { truncateArgs } = readCompactionOptions({ truncateArgs: options });
  if (!truncateArgs) throw new TypeError("it is switched on");
  return truncateArgs;
}

/** The settings of a step that is switched on. */
export function pruning(options: PruneOptions): Prune {
  const { prune } = readCompactionOptions({ prune: options });
  if (!prune) throw new TypeError("it is switched on");
  return prune;
}
