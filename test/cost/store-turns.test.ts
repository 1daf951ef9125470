import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, inject, test } from "vitest";

const program = fileURLToPath(new URL("../../bench/dist/main.js", import.meta.url));

const brief = process.env["HOLDFAST_LONG"] === "1" ? [] : ["--brief"];

interface Traffic {
  readonly roundTrips: number;
  readonly bytes: number;
}

interface Measurement {
  readonly store: string;
  readonly warmTurn: { readonly ratio: number };
  readonly traffic: Readonly<Record<"floor" | "at10" | "at5000", Traffic>>;
}

function measure(): readonly Measurement[] {
  const { VITEST: _, ...env } = process.env;
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, "--json", ...brief], {
    env: {
      ...env,
      HOLDFAST_TEST_REDIS_URL: inject("redisUrl"),
      HOLDFAST_TEST_MYSQL_URL: inject("mysqlUrl"),
    },
    encoding: "utf8",
    timeout: 550_000,
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return JSON.parse(stdout) as Measurement[];
}

/** Round trips of a turn beyond those of the least a save can be: gate, revision check, log and release included. */
const extraRoundTrips: Readonly<Record<string, number>> = { redis: 0, mysql: 1 };

test("a warm turn costs no more at 5,000 messages than at 10, and hardly a round trip more than a bare save", {
  timeout: 600_000,
}, () => {
  const measured = measure();
  expect(measured.map(({ store }) => store).sort()).toEqual(["mysql", "redis"]);
  for (const { store, warmTurn, traffic } of measured) {
    const { floor, at10, at5000 } = traffic;
    // How long it takes is printed and not judged: from one run to the next it is 1.7 or 3 times the floor's.
    console.log(
      `${store}: warm turn ${warmTurn.ratio.toFixed(2)} x its floor; round trips ${floor.roundTrips} -> ${at5000.roundTrips}; bytes per turn ${at10.bytes} -> ${at5000.bytes}`,
    );
    expect(at5000.bytes / at10.bytes, `bytes per turn on ${store}`).toBeLessThanOrEqual(1.3);
    // Rounded, because a connection that was silent for long is asked whether it is there.
    for (const { roundTrips } of [at10, at5000])
      expect(Math.round(roundTrips), `round trips per turn on ${store}`).toBe(
        Math.round(floor.roundTrips) + (extraRoundTrips[store] ?? Number.NaN),
      );
  }
});
