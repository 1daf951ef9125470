import { hasRoom, shipByName } from "./ships.js";

/** Books parties onto departures, as long as there is room. */
export class Bookings {
  #booked = new Map();

  /** How many passengers and cars a departure has. */
  of(departure) {
    return this.#booked.get(keyOf(departure)) ?? { passengers: 0, cars: 0 };
  }

  /** Books a party; says why where there is no room. */
  book(departure, party) {
    const booked = this.of(departure);
    const ship = shipByName(departure.route.ship);
    if (!hasRoom(ship, booked, party)) return { ok: false, reason: `${ship.name} is full` };
    this.#booked.set(keyOf(departure), {
      passengers: booked.passengers + party.passengers,
      cars: booked.cars + party.cars,
    });
    return { ok: true };
  }
}

function keyOf({ route, time }) {
  return `${route.id}@${time}`;
}
