// Usage: node dist/main.js [--json] [--brief]; --brief times a few turns only; HOLDFAST_TEST_REDIS_URL and HOLDFAST_TEST_MYSQL_URL use existing servers;
// HOLDFAST_LONG=1 replays in three windows.
import { sharedMariadb, sharedRedis } from "@holdfast/testing/servers";
import { agentSearch } from "./agent-search.js";
import { measureCounting } from "./count-tokens.js";
import { measureMysql, measureRedis, type StoreMeasurement } from "./measure-store.js";
import { measureMemoryWait } from "./memory-wait.js";
import { replayWindows, runReplay } from "./replay/run-replay.js";
import { measureLogSearch } from "./search-logs.js";
import { measureTokens, tokenLines } from "./tokens.js";

const asJson = process.argv.includes("--json");
const effort = process.argv.includes("--brief") ? "brief" : "thorough";
const servers = await Promise.all([sharedRedis(), sharedMariadb()]);
try {
  const [redis, mariadb] = servers;
  const results = [await measureRedis(redis.url, effort), await measureMysql(mariadb.url, effort)];
  if (asJson) console.log(JSON.stringify(results));
  else print(results);
} finally {
  await Promise.all(servers.map((server) => server.stop()));
}

// With --json there are the stores alone; `replay/main.js --json` has the rest.
if (!asJson) {
  const { floorMs, measuredMs, ratio } = await measureCounting();
  console.log(
    `\nCounting tokens before a step: ${floorMs.toFixed(3)} ms at 50 messages, ${measuredMs.toFixed(3)} ms at 5,000: ${ratio.toFixed(2)} x\n`,
  );
  for (const [trigger, waited] of Object.entries(await measureMemoryWait()))
    console.log(
      `A call with memory, ${trigger}, against one without: ${waited.floorMs.toFixed(2)} ms, ${waited.measuredMs.toFixed(2)} ms: ${waited.ratio.toFixed(2)} x`,
    );
  console.log("");
  await measureLogSearch(console.log, agentSearch);
  console.log("");
  for (const line of tokenLines(measureTokens())) console.log(line);
  console.log("");
  await runReplay({
    windows: replayWindows(),
    settings: ["alike", "defaults"],
    print: console.log,
  });
}

function print(results: readonly StoreMeasurement[]): void {
  console.log(
    "A warm turn (gate, revision check, save, log, release) against the least a save can be:\n",
  );
  for (const { store, warmTurn, traffic } of results) {
    const { floorMs, measuredMs, ratio } = warmTurn;
    const { floor, at10, at5000 } = traffic;
    const ratioOfBytes = at5000.bytes / at10.bytes;
    const margin = "".padEnd(6);
    console.log(
      `${store.padEnd(6)} floor ${floorMs.toFixed(3)} ms, turn ${measuredMs.toFixed(3)} ms: ${ratio.toFixed(2)} x`,
    );
    console.log(`${margin} round trips: floor ${floor.roundTrips}, turn ${at5000.roundTrips}`);
    console.log(
      `${margin} bytes sent per turn: ${at10.bytes.toFixed(0)} at 10 messages, ${at5000.bytes.toFixed(0)} at 5,000: ${ratioOfBytes.toFixed(2)} x`,
    );
  }
}
