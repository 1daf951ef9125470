import { privateMariadb } from "./private-mariadb.js";
import { privateRedis } from "./private-redis.js";

/** A server that many tests use, each with a prefix of its own. */
export interface SharedServer {
  readonly url: string;
  /** Ends it if it was started here; idempotent. */
  stop(): Promise<void>;
}

/** The Redis that `HOLDFAST_TEST_REDIS_URL` names, else a private one. */
export function sharedRedis(): Promise<SharedServer> {
  return existing("HOLDFAST_TEST_REDIS_URL") ?? privateRedis();
}

/** The MySQL or MariaDB that `HOLDFAST_TEST_MYSQL_URL` names, else a private MariaDB. */
export function sharedMariadb(): Promise<SharedServer> {
  return existing("HOLDFAST_TEST_MYSQL_URL") ?? privateMariadb();
}

function existing(variable: string): Promise<SharedServer> | undefined {
  const url = process.env[variable];
  return url ? Promise.resolve({ url, stop: async () => {} }) : undefined;
}
