/** Booking of a boat. */
export interface Booking {
  readonly boat: string;
  readonly pier: string;
  readonly guest: string;
  readonly mail: string;
  readonly daysLate: number;
}

/** Piers of the harbour. */
export const piers: readonly string[] = ["North pier", "East pier", "Old quay", "Fuel dock"];

/** Bookings of this week. */
export const bookings: readonly Booking[] = [
  booking("Heron", "North pier", "Ann", 3),
  booking("Tern", "East pier", "Bob", 2),
  booking("Plover", "Old quay", "Eve", 0),
  booking("Curlew", "Old quay", "Sam", 0),
];

function booking(boat: string, pier: string, guest: string, daysLate: number): Booking {
  return { boat, pier, guest, mail: `${guest.toLowerCase()}@example.com`, daysLate };
}
