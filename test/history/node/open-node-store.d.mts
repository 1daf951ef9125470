import type { DistributedStore } from "@holdfast/core";
import type { StoreChoice } from "../../fleet/open-store.mjs";

/** Files below a directory, or one of the servers' stores. */
export type NodeStoreChoice =
  | { readonly kind: "json"; readonly root: string; readonly leaseMs: number }
  | StoreChoice;

export function openNodeStore(choice: NodeStoreChoice): {
  readonly store: DistributedStore;
  close(): Promise<void>;
};
