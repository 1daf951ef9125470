import type { DistributedStore, ReActAgent, ReActAgentOptions } from "@holdfast/core";

export function keeper(
  store: DistributedStore,
  options?: Partial<ReActAgentOptions> & {
    /** Time that the model and each tool take. */
    readonly delayMs?: number;
    /** Told "asked <words>", "answers <words>", "tool <name>" and "did <name>", before it goes on. */
    readonly tell?: (what: string, sessionId: string) => unknown;
  },
): ReActAgent;
