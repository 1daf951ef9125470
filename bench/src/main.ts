// Usage: node dist/main.js [--json]; HOLDFAST_TEST_REDIS_URL and HOLDFAST_TEST_MYSQL_URL use existing servers.
import { sharedMariadb, sharedRedis } from "@holdfast/testing/servers";
import { measureMysql, measureRedis, type StoreMeasurement } from "./measure-store.js";

const servers = await Promise.all([sharedRedis(), sharedMariadb()]);
try {
  const [redis, mariadb] = servers;
  const results = [await measureRedis(redis.url), await measureMysql(mariadb.url)];
  if (process.argv.includes("--json")) console.log(JSON.stringify(results));
  else print(results);
} finally {
  await Promise.all(servers.map((server) => server.stop()));
}

function print(results: readonly StoreMeasurement[]): void {
  console.log(
    "A warm turn (gate, revision check, save, log, release) against the least a save can be:\n",
  );
  for (const { store, warmTurn, bytes } of results) {
    const { floorMs, measuredMs, ratio } = warmTurn;
    console.log(
      `${store.padEnd(6)} floor ${floorMs.toFixed(3)} ms, turn ${measuredMs.toFixed(3)} ms: ${ratio.toFixed(2)} x`,
    );
    console.log(
      `${"".padEnd(6)} bytes sent per turn: ${bytes.at10.toFixed(0)} at 10 messages, ${bytes.at5000.toFixed(0)} at 5,000: ${bytes.ratio.toFixed(2)} x`,
    );
  }
}
