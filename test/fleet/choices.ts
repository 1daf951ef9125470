import { randomBytes } from "node:crypto";
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

/** Fit for keys and for tables. */
export function freshPrefix(): string {
  return `t${randomBytes(6).toString("hex")}_`;
}
