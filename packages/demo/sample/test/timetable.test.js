import assert from "node:assert/strict";
import { test } from "node:test";
import { parseTime } from "../src/clock.js";
import { piers } from "../src/routes.js";
import { boardLine, dayPlan, nextDepartures } from "../src/timetable.js";

test("the board shows the next departures from a pier", () => {
  const [first] = nextDepartures("Holm", parseTime("09:15"));
  assert.equal(boardLine(first), "09:40  Tern     Eider    arrives 10:00");
});

test("two departures from one pier are at least ten minutes apart", () => {
  for (const pier of piers()) {
    const times = dayPlan()
      .filter(({ route }) => route.from === pier)
      .map(({ time }) => time);
    for (const [index, time] of times.entries())
      if (index > 0) assert.ok(time - times[index - 1] >= 10, `${pier} at ${time}`);
  }
});
