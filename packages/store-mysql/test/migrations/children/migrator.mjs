// migrator.mjs <url> <prefix>: uses a store for the first time once told to, then says how it went.
import { MysqlAgentStateStore } from "@holdfast/store-mysql";
import { createPool } from "mysql2/promise";

const [url, tablePrefix] = process.argv.slice(2);
const pool = createPool(url);
const store = new MysqlAgentStateStore({ pool, tablePrefix });
console.log("ready");
process.stdin.once("data", async () => {
  try {
    console.log((await store.list()).slots.length === 0 ? "done" : "not empty");
  } catch (error) {
    console.log(`failed ${error}`);
  }
  await pool.end();
  process.exit();
});
