import type { DistributedStore, ReActAgent, ReActAgentOptions } from "@holdfast/core";

export function streamer(
  store: DistributedStore,
  options?: Partial<ReActAgentOptions> & { readonly pieceMs?: number },
): ReActAgent;
