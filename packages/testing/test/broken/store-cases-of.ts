import { slotText } from "@holdfast/core/store-kit";
import { agentStateStoreCases } from "../../src/agent-state-store/describe-agent-state-store.js";
import type { AgentStateStoreOptions } from "../../src/agent-state-store/store-case.js";
import type { ReferenceStore } from "../reference/reference-store.js";

/** Every case of the suite, against stores of this class. */
export function casesOf(
  store: new (backend?: ReferenceStore["backend"]) => ReferenceStore,
  timeoutMs?: number,
): ReturnType<typeof agentStateStoreCases> {
  const options: AgentStateStoreOptions = {
    create: () => new store(),
    reopen: (first) => new store((first as ReferenceStore).backend),
    timeoutMs,
    fuses: ["gate", "log"],
    inbox: true,
    callRecords: true,
    endLease: (store) => (store as ReferenceStore).backend.gate.lapse(),
    corrupt(broken, slot) {
      const stored = (broken as ReferenceStore).backend.states.get(slotText(slot));
      if (stored) stored.body = stored.body.slice(0, -10);
    },
    breakBackend(broken) {
      (broken as ReferenceStore).backend.broken = true;
    },
  };
  return agentStateStoreCases(options);
}
