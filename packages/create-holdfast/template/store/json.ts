import "./env.js";
import type { DistributedStore } from "@holdfast/core";
import { JsonFileAgentStateStore } from "@holdfast/store-json";

const root = process.env["STATE_DIRECTORY"] || ".holdfast/state";

/** Where sessions are, as the `holdfast` command names it. */
export const storeUrl: string = `json:${root}`;

/** Says what to do when the store does not answer. */
export const storeHint = `Check that ${root} is writable.`;

/** Opens the store: files, which any number of processes on this host share. */
export function openStore(): { readonly store: DistributedStore; close(): Promise<void> } {
  const stateStore = new JsonFileAgentStateStore({ root });
  return { store: stateStore.companions(), close: () => stateStore.close() };
}
