import { setTimeout as sleep } from "node:timers/promises";
import type { Fleet } from "../fleet.js";
import type { SeededRandom } from "../seeded-random.js";
import type { RemoteStore, StoreRig } from "../store-rig.js";

/** Everything that a fault may break. */
export interface FaultTarget {
  readonly fleet: Fleet;
  readonly rig: StoreRig;
  readonly random: SeededRandom;
  readonly leaseMs: number;
}

/** Does its damage, waits, and heals it; resolves to false when it came to nothing. */
export type Fault = (target: FaultTarget) => Promise<boolean>;

/** Faults by name, and how often each is chosen. */
export type Faults = Readonly<Record<string, readonly [weight: number, fault: Fault]>>;

/** Causes faults one after another until told to stop; resolves to the number of each. */
export async function causeFaults(
  faults: Faults,
  target: FaultTarget,
  isOver: () => boolean,
  /** Called when a fault begins, and what it returned when the fault is over. */
  begin: (keepsNodesFromSaving: boolean) => () => void,
): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  const weights = Object.fromEntries(
    Object.entries(faults).map(([name, [weight]]) => [name, weight]),
  );
  for (;;) {
    await sleep(target.random.between(100, 1_000));
    if (isOver()) return counts;
    const name = target.random.weighted(weights);
    const end = begin(!name.startsWith("kill") && !name.startsWith("SIGTERM"));
    const happened = await faults[name]?.[1](target);
    end();
    if (happened === true) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
}

/** Picks a node. */
export function nodeIndex(fleet: Fleet, random: SeededRandom): number {
  return random.between(0, fleet.size - 1);
}

/** Makes a fault of something that happens to a server or on the way there. */
export function remotely(
  work: (remote: RemoteStore, target: FaultTarget) => Promise<unknown>,
): Fault {
  return async (target) => {
    if (target.rig.remote === undefined) return false;
    await work(target.rig.remote, target);
    return true;
  };
}
