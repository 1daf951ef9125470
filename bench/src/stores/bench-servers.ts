import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { privateMariadb, privateRedis } from "@holdfast/testing/servers";

/** A server, started here or not. */
interface Server {
  readonly url: string;
  stop(): Promise<void>;
}

/** As durable as a server one would run: Redis syncs its append-only file every second, MariaDB its log at every commit. */
const starters: Readonly<Record<"redis" | "mysql", () => Promise<Server>>> = {
  redis: () => privateRedis({ args: ["--appendonly", "yes", "--appendfsync", "everysec"] }),
  mysql: () =>
    privateMariadb({ args: ["--innodb-flush-method=fsync", "--innodb-buffer-pool-size=256M"] }),
};

const variables = { redis: "HOLDFAST_TEST_REDIS_URL", mysql: "HOLDFAST_TEST_MYSQL_URL" } as const;

/** Servers and the directory of a run; a server is started when it is first asked for. */
export class BenchServers {
  /** Directory for files, on the disk of the system's temporary files. */
  readonly directory: string;
  readonly #started = new Map<string, Promise<Server>>();

  private constructor(directory: string) {
    this.directory = directory;
  }

  static async create(): Promise<BenchServers> {
    return new BenchServers(await mkdtemp(join(tmpdir(), "holdfast-bench-")));
  }

  /** Address of a server: the one that `HOLDFAST_TEST_REDIS_URL` or `HOLDFAST_TEST_MYSQL_URL` names, else a private one. */
  async url(store: keyof typeof starters): Promise<string> {
    const named = process.env[variables[store]];
    if (named) return named;
    const server = this.#started.get(store) ?? starters[store]();
    this.#started.set(store, server);
    return (await server).url;
  }

  async close(): Promise<void> {
    for (const server of this.#started.values()) await (await server).stop();
    await rm(this.directory, { recursive: true, force: true });
  }
}
