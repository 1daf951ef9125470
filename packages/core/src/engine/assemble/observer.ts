import type { AgentEvent } from "../../events/agent-event.js";
import type { AgentParts } from "./agent-parts.js";

/** Hands events to listeners in their order; what one throws is ignored. */
export function observer(
  listeners: Iterable<(event: AgentEvent) => unknown>,
): AgentParts["observe"] {
  return (event) => {
    for (const listen of listeners)
      try {
        const returned = listen(event);
        if (returned instanceof Promise) returned.catch(() => undefined);
      } catch {
        // A watcher's fault must not fail the call it watches.
      }
  };
}
