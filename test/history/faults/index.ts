import type { StoreKind } from "../store-rig.js";
import type { Faults } from "./fault.js";
import { networkFaults } from "./network-faults.js";
import { nodeFaults } from "./node-faults.js";
import { serverFaults } from "./server-faults.js";

export { causeFaults, type FaultTarget } from "./fault.js";
export { nodeFaults } from "./node-faults.js";

/** The faults of a store: those of its nodes, and those of its network and server. */
export function faultsOf(kind: StoreKind): readonly Faults[] {
  return kind === "json" ? [nodeFaults] : [nodeFaults, { ...networkFaults, ...serverFaults[kind] }];
}
