import { loadData } from "./load-data.js";

const fares = loadData("fares");

/** What a crossing costs an adult, in cents. */
export function baseFare(route) {
  return Math.max(fares.minimum, route.minutes * fares.perMinute);
}

/** What a passenger pays, in cents: a share of the base fare, rounded to five cents. */
export function passengerFare(route, kind) {
  const share = fares.share[kind];
  if (share === undefined) throw new RangeError(`no kind of passenger: ${kind}`);
  return roundToFive((baseFare(route) * share) / 100);
}

/** What a vehicle pays, in cents; its driver pays apart. */
export function vehicleFare(kind) {
  const fare = fares.vehicle[kind];
  if (fare === undefined) throw new RangeError(`no kind of vehicle: ${kind}`);
  return fare;
}

/** Sum for a party. */
export function partyFare(route, passengers, vehicles = []) {
  const people = passengers.reduce((sum, kind) => sum + passengerFare(route, kind), 0);
  return people + vehicles.reduce((sum, kind) => sum + vehicleFare(kind), 0);
}

/** Cents as people read them. */
export function formatEuros(cents) {
  return `${Math.floor(cents / 100)},${String(cents % 100).padStart(2, "0")} €`;
}

function roundToFive(cents) {
  return Math.round(cents / 5) * 5;
}
