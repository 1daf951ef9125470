import { formatTime } from "./clock.js";
import { allRoutes } from "./routes.js";

/** Departures of one route on an ordinary day, in minutes. */
export function departuresOf(route) {
  const times = [];
  for (let time = route.first; time <= route.last; time += route.every) times.push(time);
  return times;
}

/** The whole day: every departure with its route, earliest first. */
export function dayPlan() {
  return allRoutes()
    .flatMap((route) => departuresOf(route).map((time) => ({ route, time })))
    .sort((a, b) => a.time - b.time || a.route.id.localeCompare(b.route.id));
}

/** The next departures from a pier. */
export function nextDepartures(pier, now, count = 3) {
  const today = dayPlan().filter(({ route, time }) => route.from === pier && time >= now);
  return today.slice(0, count);
}

/** A departure as the board shows it. */
export function boardLine({ route, time }) {
  const arrival = formatTime(time + route.minutes);
  return `${formatTime(time)}  ${route.to.padEnd(8)} ${route.ship.padEnd(8)} arrives ${arrival}`;
}
