// One of several writers of one log: appends `<name>.<batch>.<part>` and `common.<batch>`, batch after batch, from the first
// one given on. Says `intent <batch>` before and `ok <batch>` after each.
import { userMessage } from "@holdfast/core";
import { MysqlConversationLog } from "@holdfast/store-mysql";
import { createPool } from "mysql2/promise";

const [url, tablePrefix, name, first, last, bytes] = process.argv.slice(2);
const pool = createPool({ uri: url, connectionLimit: 2 });
const log = new MysqlConversationLog({ pool, tablePrefix });
const slot = { agentId: "agent", userId: "user", sessionId: "session" };

const record = (id) => ({
  v: 1,
  id,
  callId: name,
  at: new Date().toISOString(),
  kind: "message",
  // The second part of every tenth batch is kept apart as a long text.
  message: userMessage(id.endsWith("0.2") ? id.repeat(20_000) : id.padEnd(Number(bytes), ".")),
});

await log.read(slot);
process.stdout.write("ready\n");
await new Promise((resolve) => process.stdin.once("data", resolve));
for (let batch = Number(first); batch < Number(last); batch++) {
  process.stdout.write(`intent ${batch}\n`);
  await log.append(
    slot,
    [`${name}.${batch}.1`, `common.${batch}`, `${name}.${batch}.2`].map(record),
  );
  process.stdout.write(`ok ${batch}\n`);
}
await pool.end();
process.exit(0);
