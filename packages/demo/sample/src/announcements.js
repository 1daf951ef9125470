import { formatTime } from "./clock.js";
import { shipByName } from "./ships.js";
import { canBerth } from "./tides.js";
import { maySail } from "./weather.js";

/** What the loudspeaker says about a departure, given tide and wind. */
export function announce(departure, { minutesSinceHigh, wind }) {
  const { route, time } = departure;
  const ship = shipByName(route.ship);
  const head = `The ${formatTime(time)} ferry to ${route.to}`;
  const problem = [maySail(ship, wind), canBerth(ship, route.to, minutesSinceHigh)].find(
    ({ ok }) => !ok,
  );
  return problem ? `${head} does not run: ${problem.reason}.` : `${head} leaves on time.`;
}

/** Announcements that differ from the last ones. */
export function changedAnnouncements(before, now) {
  const known = new Set(before);
  return now.filter((text) => !known.has(text));
}
