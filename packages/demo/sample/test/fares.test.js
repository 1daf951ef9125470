import assert from "node:assert/strict";
import { test } from "node:test";
import { baseFare, formatEuros, partyFare, passengerFare } from "../src/fares.js";
import { routeById } from "../src/routes.js";

test("a short crossing costs the minimum, a long one by the minute", () => {
  assert.equal(baseFare({ minutes: 5 }), 250);
  assert.equal(baseFare(routeById("mail")), 1260);
});

test("fares are rounded to five cents", () => {
  assert.equal(passengerFare(routeById("north"), "senior"), 295);
});

test("a family with a car pays for everybody", () => {
  assert.equal(partyFare(routeById("south"), ["adult", "adult", "child"], ["car"]), 2800);
});

test("euros are written with a comma", () => {
  assert.equal(formatEuros(2805), "28,05 €");
});
