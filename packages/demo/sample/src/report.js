import { formatEuros } from "./fares.js";

/** The day's takings, by route, largest first. */
export function takings(tickets) {
  const sums = new Map();
  for (const { departure, price } of tickets)
    sums.set(departure.route.id, (sums.get(departure.route.id) ?? 0) + price);
  return [...sums].sort(([, a], [, b]) => b - a);
}

/** The report that goes to the office in the evening. */
export function eveningReport(date, tickets) {
  const total = tickets.reduce((sum, { price }) => sum + price, 0);
  const rows = takings(tickets).map(([id, cents]) => `  ${id.padEnd(8)}${formatEuros(cents)}`);
  return [`Takings of ${date}`, ...rows, `  total   ${formatEuros(total)}`].join("\n");
}
