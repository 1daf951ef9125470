import { join } from "node:path";
import type { DistributedStore } from "@holdfast/core";
import { tempDirectory } from "@holdfast/testing";
import { onTestFinished } from "vitest";
import { newPlace, type sharedStores } from "../fleet/every-store.js";

export { sharedStores } from "../fleet/every-store.js";

/** Leases play no part in these tests. */
const leaseMs = 30_000;

/** A store of that kind with nothing in it, closed when the test is over; every call opens it as one more process would. */
export async function placeOf(kind: (typeof sharedStores)[number]): Promise<{
  readonly root: string | undefined;
  readonly prefix: string;
  open(): DistributedStore;
}> {
  const place = await newPlace(kind, leaseMs);
  onTestFinished(() => place[Symbol.asyncDispose]());
  const { choice } = place;
  return choice.kind === "json"
    ? { root: choice.root, prefix: "", open: () => place.open() }
    : { root: undefined, prefix: choice.prefix, open: () => place.open() };
}

/** A directory of the test's own. */
export async function directoryFor(name: string): Promise<string> {
  const directory = await tempDirectory();
  onTestFinished(() => directory.cleanup());
  return join(directory.path, name);
}
