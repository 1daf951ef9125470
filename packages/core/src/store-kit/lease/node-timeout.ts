import { ConfigurationError } from "../../errors/errors.js";

const DEFAULT_MS = 4_000;

/**
 * Returns the time without a heartbeat after which a node may be taken for dead: what was given, or 4 s; undefined when leases are no
 * longer than that and need no heartbeats beside them.
 *
 * @throws ConfigurationError when the time given is not less than `leaseMs`
 */
export function nodeTimeout(
  where: string,
  {
    leaseMs,
    nodeTimeoutMs,
  }: { readonly leaseMs: number; readonly nodeTimeoutMs?: number | undefined },
): number | undefined {
  if (nodeTimeoutMs === undefined) return leaseMs > DEFAULT_MS ? DEFAULT_MS : undefined;
  if (nodeTimeoutMs < leaseMs) return nodeTimeoutMs;
  throw new ConfigurationError([
    `${where}: nodeTimeoutMs (${nodeTimeoutMs}) must be less than leaseMs (${leaseMs})`,
  ]);
}
