import { formatTime } from "./clock.js";
import { formatEuros, partyFare } from "./fares.js";

let lastNumber = 0;

/** Sells a ticket for a party. */
export function sellTicket(departure, passengers, vehicles = []) {
  lastNumber += 1;
  return {
    number: ticketNumber(lastNumber),
    departure,
    passengers,
    vehicles,
    price: partyFare(departure.route, passengers, vehicles),
  };
}

/** What is printed on a ticket. */
export function printTicket({ number, departure, passengers, vehicles, price }) {
  const { route, time } = departure;
  return [
    `SKERRY LINE ${number}`,
    `${route.from} - ${route.to}, ${formatTime(time)}`,
    `${passengers.length} passengers, ${vehicles.length} vehicles`,
    formatEuros(price),
  ].join("\n");
}

/** A number with a check digit: the sum of its digits, the last one of it. */
export function ticketNumber(count) {
  const digits = String(count).padStart(6, "0");
  const sum = [...digits].reduce((total, digit) => total + Number(digit), 0);
  return `${digits}-${sum % 10}`;
}
