import { formatDuration } from "../terminal/format.js";
import { type Finding, fine, warning } from "./finding.js";

/** Tolerated difference. Leases use the store's clock, timestamps of messages this machine's. */
const MOST_MS = 5_000;

/** Compares this machine's clock with the store's. @param ask - returns the store's time in milliseconds */
export async function checkClock(ask: () => Promise<number>): Promise<Finding> {
  const before = Date.now();
  const theirs = await ask();
  const difference = theirs - (before + Date.now()) / 2;
  const size = formatDuration(Math.abs(difference));
  if (Math.abs(difference) <= MOST_MS) return fine("clock", `differs from the store's by ${size}`);
  return warning(
    "clock",
    `this machine is ${size} ${difference > 0 ? "behind" : "ahead of"} the store`,
    "times of messages and listings will be off: set the clocks, for example by NTP",
  );
}
