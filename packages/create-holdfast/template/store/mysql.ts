import "./env.js";
import type { DistributedStore } from "@holdfast/core";
import { MysqlDistributedStore } from "@holdfast/store-mysql";
import { createPool } from "mysql2/promise";

/** Where sessions are, as the `holdfast` command names it. */
export const storeUrl: string =
  process.env["MYSQL_URL"] || "mysql://root:holdfast@127.0.0.1:3306/holdfast";

/** Says what to do when the store does not answer. */
export const storeHint = "Start a MySQL with `docker compose up -d mysql`, or set MYSQL_URL.";

/** Opens the store: a MySQL or MariaDB, which any number of processes on any number of hosts share. */
export function openStore(): { readonly store: DistributedStore; close(): Promise<void> } {
  const pool = createPool(storeUrl);
  const store = MysqlDistributedStore.from(pool);
  return {
    store,
    async close() {
      await store.close();
      await pool.end();
    },
  };
}
