import type { DistributedStore } from "@holdfast/core";

export interface StoreChoice {
  readonly kind: "redis" | "redis-cluster" | "redis-sentinel" | "mysql";
  readonly url?: string;
  readonly nodes?: readonly { readonly host: string; readonly port: number }[];
  readonly name?: string;
  readonly prefix: string;
  readonly leaseMs?: number;
  readonly commandTimeoutMs?: number;
  readonly minReplicas?: number;
}

export function openStore(choice: StoreChoice): {
  readonly store: DistributedStore;
  close(): Promise<void>;
};
