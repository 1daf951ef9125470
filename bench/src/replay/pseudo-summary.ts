import { firstTokens } from "./tokens.js";

/** Length of every summary, for all contenders alike. */
const summaryTokens = 400;

/** Customers, reservations and flights, as they are named in the recordings. */
const names = /\b(?:[a-z]+_[a-z]+_\d{4}|HAT\d{3}|(?=[A-Z]*\d)(?=\d*[A-Z])[A-Z\d]{6})\b/g;

/**
 * Stands in for a model's summary: names what occurs in the text and quotes its end.
 *
 * It is made of the request alone, so what the request does not contain is not in the summary, and always of the same
 * length, so that nobody saves by a shorter one.
 */
export function pseudoSummary(text: string): string {
  const found = [...new Set(text.match(names))].reverse();
  const sections = [
    "SESSION INTENT\nHelp the customers of an airline with bookings, changes, cancellations and baggage.",
    `SUMMARY\nThe conversation was about, newest first: ${found.slice(0, 60).join(", ")}.`,
    "ARTIFACTS\nNone.",
    `NEXT STEPS\nAnswer the newest request. Last said: ${text.slice(-4_000).replace(/\s+/g, " ")}`,
  ];
  return firstTokens(sections.join("\n\n"), summaryTokens);
}
