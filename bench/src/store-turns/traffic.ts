import type { WatchedAddress } from "../stores/watched-address.js";

const runs = 20;

/** Traffic of one run; no machine is too slow or too busy to count it. */
export interface Traffic {
  readonly roundTrips: number;
  /** Bytes sent to the server. */
  readonly bytes: number;
}

/** Counts what is sent while something is run, again and again. */
export async function trafficOf(
  address: WatchedAddress,
  run: () => Promise<void>,
): Promise<Traffic> {
  // The first run may prepare statements or load scripts.
  await run();
  const before = address.counters();
  for (let n = 0; n < runs; n++) await run();
  const after = address.counters();
  const perRun = (count: "roundTrips" | "bytesSent") =>
    ((after[count] ?? Number.NaN) - (before[count] ?? Number.NaN)) / runs;
  return { roundTrips: perRun("roundTrips"), bytes: perRun("bytesSent") };
}
