import { MysqlDistributedStore } from "@holdfast/store-mysql";
import { createPool, type Pool, type RowDataPacket } from "mysql2/promise";
import { mysqlFloor } from "../floors/mysql-floor.js";
import type { NodePlace } from "./node-place.js";
import { benchSlot, seedSession } from "./seed-session.js";
import type { StoreSide } from "./store-side.js";
import type { WatchedAddress } from "./watched-address.js";

/** Opens MySQL beside the nodes; `url` is the server itself, `place.url` the way that may be watched. */
export async function mysqlSide(
  { url: watchedUrl, prefix }: NodePlace,
  url: string,
  address: WatchedAddress,
): Promise<StoreSide> {
  const [pool, floorPool] = [createPool(url), createPool(watchedUrl)];
  const seeder = MysqlDistributedStore.from(pool, { tablePrefix: prefix });
  return {
    floor: await mysqlFloor(floorPool, prefix),
    seed: async (sessionId, messages) => {
      await seedSession(seeder.stateStore, benchSlot(sessionId), messages);
    },
    storedBytes: () => columnBytes(pool, prefix),
    async counters() {
      const redoBytes = await globalStatus(pool, "Innodb_os_log_written");
      const commands = await globalStatus(pool, "Questions");
      return { ...address.counters(), commands, redoBytes };
    },
    async close() {
      await seeder.close();
      await Promise.all([pool.end(), floorPool.end()]);
    },
  };
}

/** Lengths of all values in all tables with the prefix; pages and indexes of the server are not in it. */
async function columnBytes(pool: Pool, prefix: string): Promise<number> {
  const [columns] = await pool.query<RowDataPacket[]>(
    `SELECT c.table_name AS t, c.column_name AS c FROM information_schema.columns c
     JOIN information_schema.tables USING (table_schema, table_name)
     WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE' AND LEFT(table_name, ?) = ?`,
    [prefix.length, prefix],
  );
  let bytes = 0;
  for (const { t: table, c: column } of columns) {
    const [[row]] = await pool.query<RowDataPacket[]>(
      `SELECT SUM(LENGTH(\`${column}\`)) AS n FROM \`${table}\``,
    );
    bytes += Number(row?.["n"] ?? 0);
  }
  return bytes;
}

async function globalStatus(pool: Pool, name: string): Promise<number> {
  const [[row]] = await pool.query<RowDataPacket[]>("SHOW GLOBAL STATUS WHERE Variable_name = ?", [
    name,
  ]);
  return Number(row?.["Value"]);
}
