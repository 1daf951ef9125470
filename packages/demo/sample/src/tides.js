/** Minutes from one high water to the next: half a lunar day. */
const period = 745;
/** Centimetres over chart datum. */
const mean = 320;
const range = 130;
/** What one harmonic can be wrong by. */
const margin = 40;
/** Depth of the berths below chart datum. */
const berthDepth = { Holm: 180, Skarv: 140, Tern: 90, Farne: 60 };

/** How high the water stands, in centimetres over chart datum. */
export function waterLevel(minutesSinceHigh) {
  return Math.round(mean + range * Math.cos((2 * Math.PI * minutesSinceHigh) / period));
}

/** Water under the keel at a pier; below zero the ship would touch. */
export function clearance(ship, pier, minutesSinceHigh) {
  const depth = (berthDepth[pier] ?? 0) + waterLevel(minutesSinceHigh);
  return depth - margin - ship.draught;
}

/** Whether a ship can berth, and if not why. */
export function canBerth(ship, pier, minutesSinceHigh) {
  const left = clearance(ship, pier, minutesSinceHigh);
  if (left >= 0) return { ok: true };
  return { ok: false, reason: `${ship.name} lacks ${-left} cm of water at ${pier}` };
}
