// migrator.mjs <url> <prefix> [tables]: uses a store for the first time once told to, then says how it went. With `tables` it comes
// no further than the creation of so many.
import { MysqlAgentStateStore } from "@holdfast/store-mysql";
import { createPool } from "mysql2/promise";

const [url, tablePrefix, tables] = process.argv.slice(2);
const pool = createPool(url);
let created = 0;
pool.on("connection", (connection) => {
  const query = connection.query.bind(connection);
  connection.query = (statement, done) =>
    query(statement, (...reply) => {
      if (statement.sql.startsWith("CREATE TABLE")) created += 1;
      if (created !== Number(tables)) done(...reply);
      else console.log("halted");
    });
});
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
