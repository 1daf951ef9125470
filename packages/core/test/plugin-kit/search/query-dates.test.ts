import { expect, test } from "vitest";
import { queryDates } from "../../../src/plugin-kit/search/query-dates.js";

const now = Date.parse("2026-11-17T12:00:00Z");

/** Days among those given that fit a query, each with how well. */
function fits(query: string, days: readonly string[]): Record<string, number> {
  const dates = queryDates(query, now);
  const fit = (day: string) =>
    Math.max(0, ...dates.map((date) => date.fit(Date.parse(`${day}T10:00Z`))));
  return Object.fromEntries(days.map((day) => [day, fit(day)]).filter(([, each]) => each !== 0));
}

test.each([
  ["What did we plan in March?", { "2025-03-10": 1, "2026-03-31": 1, "2026-04-03": 0.5 }],
  ["the trip last May", { "2026-05-08": 1 }],
  ["dinner in May 2025", { "2025-05-08": 1 }],
  ["on 8 May, 2025", { "2025-05-08": 1 }],
  ["on May 8th", { "2025-05-08": 1, "2026-05-08": 1 }],
  ["on the 8th of May 2026", { "2026-05-08": 1 }],
  ["2026-03-31?", { "2026-03-31": 1, "2026-04-03": 0.5 }],
  ["What happened in 2025?", { "2025-03-10": 1, "2025-05-08": 1 }],
  ["Was haben wir im März besprochen?", { "2025-03-10": 1, "2026-03-31": 1, "2026-04-03": 0.5 }],
  ["yesterday", { "2026-11-16": 1 }],
  ["three weeks ago", { "2026-10-27": 1 }],
  ["You may march on", {}],
  ["what may I do?", {}],
])("%s", (query, expected) => {
  const days = [
    "2025-03-10",
    "2025-05-08",
    "2026-03-31",
    "2026-04-03",
    "2026-05-08",
    "2026-10-27",
    "2026-11-16",
  ];
  expect(fits(query, days)).toEqual(expected);
});
