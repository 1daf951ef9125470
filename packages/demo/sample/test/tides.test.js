import assert from "node:assert/strict";
import { test } from "node:test";
import { shipByName } from "../src/ships.js";
import { canBerth, waterLevel } from "../src/tides.js";

test("high water comes back after half a lunar day", () => {
  assert.equal(waterLevel(745), waterLevel(0));
});

test("the Gannet waits for water at Farne", () => {
  const gannet = shipByName("Gannet");
  assert.equal(canBerth(gannet, "Farne", 0).ok, true);
  assert.match(canBerth(gannet, "Farne", 372).reason, /lacks \d+ cm of water/);
});
