import { randomInt } from "node:crypto";
import { sharedMariadb, sharedRedis } from "@holdfast/testing/servers";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    readonly redisUrl: string;
    readonly mysqlUrl: string;
    /** Makes what the security corpus feeds to the product. */
    readonly securitySeed: number;
  }
}

/** One Redis and one MariaDB for all tests that need no server of their own; each has a prefix of its own. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [redis, mariadb] = await Promise.all([sharedRedis(), sharedMariadb()]);
  project.provide("redisUrl", redis.url);
  project.provide("mysqlUrl", mariadb.url);
  const seed = process.env["HOLDFAST_SECURITY_SEED"];
  project.provide("securitySeed", seed === undefined ? randomInt(2 ** 31) : Number(seed));
  return async () => {
    await Promise.all([redis.stop(), mariadb.stop()]);
  };
}
