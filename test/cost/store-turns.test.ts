import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, inject, test } from "vitest";

const program = fileURLToPath(new URL("../../bench/dist/main.js", import.meta.url));
const attempts = 6;

interface Measurement {
  readonly store: string;
  readonly warmTurn: { readonly ratio: number };
  readonly bytes: { readonly at10: number; readonly at5000: number; readonly ratio: number };
}

function measure(): readonly Measurement[] {
  const { VITEST: _, ...env } = process.env;
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, "--json"], {
    env: {
      ...env,
      HOLDFAST_TEST_REDIS_URL: inject("redisUrl"),
      HOLDFAST_TEST_MYSQL_URL: inject("mysqlUrl"),
    },
    encoding: "utf8",
    timeout: 120_000,
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return JSON.parse(stdout) as Measurement[];
}

test("a warm turn costs at most twice its floor, and as many bytes at 5,000 messages as at 10", {
  timeout: 600_000,
}, () => {
  const best = new Map<string, number>();
  // The ratio is taken within one run. Other work on the machine only ever makes it larger, so the best run counts.
  for (let attempt = 0; attempt < attempts; attempt++) {
    for (const { store, warmTurn, bytes } of measure()) {
      best.set(store, Math.min(best.get(store) ?? Number.POSITIVE_INFINITY, warmTurn.ratio));
      expect(bytes.ratio, `bytes per turn on ${store}`).toBeLessThanOrEqual(1.3);
      console.log(
        `${store}: warm turn ${warmTurn.ratio.toFixed(2)} x its floor; bytes per turn ${bytes.at10} -> ${bytes.at5000}`,
      );
    }
    if ([...best.values()].every((ratio) => ratio <= 2)) break;
  }
  expect([...best.keys()].sort()).toEqual(["mysql", "redis"]);
  for (const [store, ratio] of best)
    expect(ratio, `a warm turn on ${store}`).toBeLessThanOrEqual(2);
});
