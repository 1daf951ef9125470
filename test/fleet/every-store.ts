import { join } from "node:path";
import type { DistributedStore } from "@holdfast/core";
import { tempDirectory } from "@holdfast/testing";
import { type NodeStoreChoice, openNodeStore } from "../history/node/open-node-store.mjs";
import { freshChoice, prepareTables } from "./choices.js";

/** The stores that several processes can share. */
export const sharedStores = ["files", "redis", "mysql"] as const;

/** A place of its own on a store of that kind, which as many nodes can open as a test wants. */
export interface StorePlace extends AsyncDisposable {
  readonly choice: NodeStoreChoice;
  /** Opens the store as one more node. */
  open(): DistributedStore;
}

/** Makes an empty place; disposing of it closes what was opened. */
export async function newPlace(
  kind: (typeof sharedStores)[number],
  leaseMs: number,
): Promise<StorePlace> {
  const closing: (() => Promise<void>)[] = [];
  let choice: NodeStoreChoice;
  if (kind === "files") {
    const directory = await tempDirectory();
    closing.push(directory.cleanup);
    choice = { kind: "json", root: join(directory.path, "state"), leaseMs };
  } else {
    // Nodes that die are the subject here, not servers that are slow: a busy machine may take its time.
    const fresh = freshChoice(kind, { leaseMs, commandTimeoutMs: 30_000 });
    await prepareTables(fresh);
    choice = fresh;
  }
  return {
    choice,
    open() {
      const { store, close } = openNodeStore(choice);
      closing.push(close);
      return store;
    },
    async [Symbol.asyncDispose]() {
      for (const close of closing.reverse()) await close();
    },
  };
}
