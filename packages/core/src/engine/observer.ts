import type { ReActAgentOptions } from "./agent-options.js";
import type { AgentParts } from "./agent-parts.js";

/** Hands events to the program's `onEvent`; what that throws is ignored. */
export function observer(options: ReActAgentOptions): AgentParts["observe"] {
  return (event) => {
    try {
      const returned: unknown = options.onEvent?.(event);
      if (returned instanceof Promise) returned.catch(() => undefined);
    } catch {
      // A watcher's fault must not fail the call it watches.
    }
  };
}
