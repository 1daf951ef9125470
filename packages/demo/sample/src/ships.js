import { loadData } from "./load-data.js";

const ships = new Map(loadData("ships").map((ship) => [ship.name, ship]));

/** The ship with a name. */
export function shipByName(name) {
  const ship = ships.get(name);
  if (!ship) throw new RangeError(`no ship ${name}`);
  return ship;
}

/** Whether so many passengers and cars still fit. */
export function hasRoom(ship, booked, party) {
  return (
    booked.passengers + party.passengers <= ship.passengers && booked.cars + party.cars <= ship.cars
  );
}
