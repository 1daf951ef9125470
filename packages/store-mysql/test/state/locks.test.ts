import { type InboxEntry, uuidv7 } from "@holdfast/core/store-kit";
import { MysqlDistributedStore } from "@holdfast/store-mysql";
import { privateMariadb } from "@holdfast/testing/servers";
import { createPool } from "mysql2/promise";
import { expect, test } from "vitest";
import { rowsOf } from "../log/fresh-tables.js";
import { slotNamed, turnWrite } from "./turns.js";

test("turns of many sessions at once, new ones too, wait for no lock of each other", async () => {
  // Of its own: the counters are those of all clients.
  await using server = await privateMariadb();
  const pool = createPool({ uri: server.url, connectionLimit: 16 });
  const store = MysqlDistributedStore.from(pool);
  const sessionNamed = async (name: string): Promise<void> => {
    const slot = slotNamed(name);
    let revision: string | null = null;
    for (let turn = 0; turn < 6; turn++) {
      const callId = uuidv7();
      const at = new Date().toISOString();
      const put: InboxEntry = { id: uuidv7(), kind: "input", callId, at, body: { text: "hello" } };
      const lease = await store.gate.acquire(slot, { callId, put });
      const write = turnWrite(slot, revision, turn, {
        ...{ lease: lease.token, release: true, takes: [put.id], info: {} },
        callRecord: { record: { callId, reply: "hello" }, keep: 3 },
      });
      revision = await store.stateStore.save(slot, write);
      await lease.release();
    }
  };
  await sessionNamed("before the tables are counted");
  const waits = `SHOW GLOBAL STATUS WHERE Variable_name IN ('Innodb_row_lock_waits', 'Innodb_deadlocks')`;
  const before = await rowsOf(pool, waits);
  await Promise.all(Array.from({ length: 48 }, (_, index) => sessionNamed(`s${index}`)));
  expect(await rowsOf(pool, waits)).toEqual(before);
  await store.close();
  await pool.end();
});
