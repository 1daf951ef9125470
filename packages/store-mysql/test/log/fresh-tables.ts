import { randomBytes } from "node:crypto";
import { connect, type Socket } from "node:net";
import { migrate } from "@holdfast/store-mysql";
import { tcpProxy } from "@holdfast/testing/servers";
import { createPool, type Pool, type RowDataPacket } from "mysql2/promise";
import { afterAll, inject } from "vitest";

/** A pool to the run's server, ended with the test file. */
export function testPool(): Pool {
  const pool = createPool({ uri: inject("mysqlUrl"), connectionLimit: 8 });
  afterAll(() => pool.end());
  return pool;
}

/** A table prefix nobody else uses. */
export function freshPrefix(): string {
  return `t${randomBytes(6).toString("hex")}_`;
}

/** Makes tables under a prefix of their own: on a busy machine that takes longer than a command may. */
export async function freshTables(pool: Pool): Promise<string> {
  const tablePrefix = freshPrefix();
  await migrate(pool, { tablePrefix });
  return tablePrefix;
}

/** The rows of a statement, columns by position. */
export async function rowsOf(
  pool: Pool,
  sql: string,
  values: readonly (string | number | Buffer)[] = [],
): Promise<unknown[][]> {
  const [rows] = await pool.query<(RowDataPacket & unknown[])[]>({
    sql,
    values: [...values],
    rowsAsArray: true,
  });
  return rows;
}

/** Drops what was made under a prefix. */
export async function dropTables(pool: Pool, prefix: string): Promise<void> {
  const rows = await rowsOf(
    pool,
    "SELECT table_name, table_type FROM information_schema.tables WHERE table_schema = DATABASE() AND LEFT(table_name, ?) = ?",
    [prefix.length, prefix],
  );
  for (const [name, type] of rows)
    await pool.query(`DROP ${type === "VIEW" ? "VIEW" : "TABLE"} \`${name}\``);
}

/** A pool whose way to the run's server can be cut, for good; nothing has to copy what goes over it, as a proxy would. */
export function cutPool(): AsyncDisposable & { pool: Pool; cut(): void } {
  const { hostname: host, port, href: uri } = new URL(inject("mysqlUrl"));
  const sockets = new Set<Socket>();
  let isCut = false;
  const stream = (): Socket => {
    // Nothing listens on the first port.
    const socket = connect({ host, port: isCut ? 1 : Number(port || 3306), noDelay: true });
    sockets.add(socket.once("close", () => sockets.delete(socket)));
    return socket;
  };
  const pool = createPool({ uri, connectionLimit: 4, stream });
  const cut = (): void => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  return {
    pool,
    cut,
    async [Symbol.asyncDispose]() {
      // First, so that ending the pool finds nobody to say goodbye to.
      cut();
      await pool.end().catch(() => undefined);
    },
  };
}

/** A pool that reaches the run's server through a bad network. */
export async function proxiedPool(): Promise<
  AsyncDisposable & { pool: Pool; proxy: Awaited<ReturnType<typeof tcpProxy>> }
> {
  const url = new URL(inject("mysqlUrl"));
  const proxy = await tcpProxy({ host: url.hostname, port: Number(url.port || 3306) });
  url.host = `${proxy.host}:${proxy.port}`;
  const pool = createPool({ uri: url.href, connectionLimit: 4 });
  return {
    pool,
    proxy,
    async [Symbol.asyncDispose]() {
      // First, so that ending the pool finds nobody to say goodbye to.
      await proxy.close();
      await pool.end().catch(() => undefined);
    },
  };
}
