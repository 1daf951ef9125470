import { Rig } from "../stores/rig.js";
import type { ScenarioContext } from "./scenario.js";

/** Opens a place in every store, for as long as the work takes. */
export async function withRigs<T>(
  { stores, servers }: ScenarioContext,
  work: (rigs: readonly Rig[]) => Promise<T>,
): Promise<T> {
  const rigs: Rig[] = [];
  try {
    for (const store of stores) rigs.push(await Rig.open(store, servers));
    return await work(rigs);
  } finally {
    for (const rig of rigs) await rig.close();
  }
}
