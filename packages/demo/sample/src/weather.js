/** Beaufort numbers and the wind, in metres a second, from which on they count. */
const scale = [0, 0.3, 1.6, 3.4, 5.5, 8, 10.8, 13.9, 17.2, 20.8, 24.5, 28.5, 32.7];

/** The Beaufort number of a wind. */
export function beaufort(wind) {
  return scale.findLastIndex((from) => wind >= from);
}

/** Whether a ship may leave in a wind, and if not why. */
export function maySail(ship, wind) {
  if (wind <= ship.maxWind) return { ok: true };
  return { ok: false, reason: `${ship.name} stays in port at wind force ${beaufort(wind)}` };
}

/** The strongest of several gusts within ten minutes counts as the wind. */
export function effectiveWind(gusts) {
  return gusts.length === 0 ? 0 : Math.max(...gusts);
}
