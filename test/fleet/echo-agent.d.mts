import type { AgentEvent, DistributedStore, Tool } from "@holdfast/core";
import type { HarnessAgent } from "@holdfast/harness";
import type { ScriptedReply } from "@holdfast/testing";

export function echoAgent(
  store: DistributedStore,
  options?: {
    /** Told the last message before it is answered; may answer itself. */
    readonly beforeReply?: (
      text: string,
    ) => ScriptedReply | undefined | Promise<ScriptedReply | undefined>;
    readonly tools?: readonly Tool[];
    readonly saveDeadlineMs?: number;
    readonly onEvent?: (event: AgentEvent) => void;
  },
): HarnessAgent;
