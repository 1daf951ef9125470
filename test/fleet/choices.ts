import { randomBytes } from "node:crypto";
import { migrate } from "@holdfast/store-mysql";
import { createPool } from "mysql2/promise";
import { inject } from "vitest";
import type { StoreChoice } from "./open-store.mjs";

/** The stores for many machines, on the run's shared servers. */
export const fleetStores: readonly ("redis" | "mysql")[] = ["redis", "mysql"];

/** A place of its own on the run's shared Redis or MariaDB. */
export function freshChoice(
  kind: "redis" | "mysql",
  options: Partial<StoreChoice> = {},
): StoreChoice {
  const url = kind === "redis" ? inject("redisUrl") : inject("mysqlUrl");
  return { kind, url, prefix: freshPrefix(), ...options };
}

/** Makes the tables of a choice: where many tests make theirs at once, that takes longer than a command may. */
export async function prepareTables({ kind, url, prefix }: StoreChoice): Promise<void> {
  if (kind !== "mysql" || url === undefined) return;
  const pool = createPool({ uri: url });
  await migrate(pool, { tablePrefix: prefix }).finally(() => pool.end());
}

/** Fit for keys and for tables. */
export function freshPrefix(): string {
  return `t${randomBytes(6).toString("hex")}_`;
}
