// Opens the store that the nodes of a history share, in whatever process.
import { join } from "node:path";
import { FileSessionGate, JsonFileAgentStateStore } from "@holdfast/store-json";
import { openStore } from "../../fleet/open-store.mjs";

/** @param {import("./open-node-store.d.mts").NodeStoreChoice} choice */
export function openNodeStore(choice) {
  if (choice.kind !== "json") return openStore(choice);
  const stateStore = new JsonFileAgentStateStore({ root: choice.root });
  const gate = new FileSessionGate({ root: join(choice.root, "@gates"), leaseMs: choice.leaseMs });
  return {
    store: { ...stateStore.companions(), stateStore, gate },
    close: () => stateStore.close(),
  };
}
