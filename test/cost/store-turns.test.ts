import { expect, inject, test } from "vitest";
import { figureIn } from "../../bench/src/report/table.js";
import { runBench } from "../bench/run-bench.js";

const brief = process.env["HOLDFAST_LONG"] === "1" ? [] : ["--quick"];

interface Traffic {
  readonly roundTrips: number;
  readonly bytes: number;
}

/** Round trips of a turn beyond those of the least a save can be: gate, revision check, log and release included. */
const extraRoundTrips: Readonly<Record<string, number>> = { redis: 0, mysql: -3 };

test("a warm turn costs no more at 5,000 messages than at 10, and hardly a round trip more than a bare save", () => {
  const { tables } = runBench(["store", "--store", "redis,mysql", ...brief], {
    HOLDFAST_TEST_REDIS_URL: inject("redisUrl"),
    HOLDFAST_TEST_MYSQL_URL: inject("mysqlUrl"),
  });
  for (const [store, extra] of Object.entries(extraRoundTrips)) {
    const figure = (contender: string, column: string) => {
      const found = figureIn(tables, { table: "store", store, contender, column });
      return found ?? Number.NaN;
    };
    const [floor, at10, at5000] = ["floor", "turn, N=10", "turn, N=5,000"].map((contender) => ({
      roundTrips: figure(contender, "round trips"),
      bytes: figure(contender, "bytes sent"),
    })) as [Traffic, Traffic, Traffic];
    const ratio = figure("turn, N=10", "time") / figure("floor", "time");
    // How long it takes is printed and not judged: from one run to the next it is 1.7 or 3 times the floor's.
    console.log(
      `${store}: warm turn ${ratio.toFixed(2)} x its floor; round trips ${floor.roundTrips} -> ${at5000.roundTrips}; bytes per turn ${at10.bytes} -> ${at5000.bytes}`,
    );
    expect(at5000.bytes / at10.bytes, `bytes per turn on ${store}`).toBeLessThanOrEqual(1.3);
    // Rounded, because a connection that was silent for long is asked whether it is there.
    for (const { roundTrips } of [at10, at5000])
      expect(Math.round(roundTrips), `round trips per turn on ${store}`).toBe(
        Math.round(floor.roundTrips) + extra,
      );
  }
});
