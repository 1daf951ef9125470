import type { DistributedStore } from "@holdfast/core";

/** From where to where. */
export interface StorePair {
  readonly source: DistributedStore;
  readonly target: DistributedStore;
}
