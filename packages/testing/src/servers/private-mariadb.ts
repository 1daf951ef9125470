import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "./free-port.js";
import type { Address } from "./redis-command.js";
import { ServerGroup, type ServerProcess } from "./server-group.js";

/** A MariaDB server of a test's own; root has no password. */
export interface MariadbServer extends Address, AsyncDisposable {
  readonly url: string;
  readonly user: string;
  readonly database: string;
  readonly process: ServerProcess;
  /** Ends it and deletes its data; idempotent. */
  stop(): Promise<void>;
}

/** Options of {@link privateMariadb}. */
export interface PrivateMariadbOptions {
  /** Further arguments, for example `["--max-allowed-packet=1M"]`. */
  readonly args?: readonly string[] | undefined;
}

const database = "holdfast";

/**
 * Starts a MariaDB server with an empty database `holdfast` on a free loopback port.
 *
 * @example await using mariadb = await privateMariadb();
 */
export async function privateMariadb(options: PrivateMariadbOptions = {}): Promise<MariadbServer> {
  const group = await ServerGroup.create();
  const stop = () => group.stop();
  try {
    const data = join(group.directory, "data");
    // The server refuses to run as root unless told so.
    const asRoot = process.getuid?.() === 0 ? ["--user=root"] : [];
    await install(data, group.directory, asRoot);
    const address = { host: "127.0.0.1", port: await freePort() };
    const setup = join(group.directory, "setup.sql");
    await writeFile(setup, `CREATE DATABASE IF NOT EXISTS ${database};\n`);
    const server = await group.start({
      program: "mariadbd",
      args: [
        ...["--no-defaults", ...asRoot, `--datadir=${data}`, `--init-file=${setup}`],
        ...[`--port=${address.port}`, `--bind-address=${address.host}`],
        ...[`--socket=${join(group.directory, "s.sock")}`, "--skip-name-resolve"],
        `--tmpdir=${group.directory}`,
        ...["--innodb-buffer-pool-size=64M", "--innodb-log-file-size=32M"],
        // What is killed here is the server, not the machine: what it gave to the kernel is kept. And tests make many tables.
        ...["--innodb-flush-method=nosync", "--innodb-file-per-table=0"],
        ...(options.args ?? []),
      ],
      debianPackage: "mariadb-server",
      answers: () => greets(address),
    });
    return {
      ...address,
      process: server,
      user: "root",
      database,
      url: `mysql://root@${address.host}:${address.port}/${database}`,
      stop,
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function install(data: string, directory: string, asRoot: readonly string[]): Promise<void> {
  try {
    await promisify(execFile)(
      "mariadb-install-db",
      [
        ...["--no-defaults", ...asRoot, `--datadir=${data}`, "--skip-test-db"],
        "--auth-root-authentication-method=normal",
      ],
      // A server that starts sweeps its temporary directory, so two must never share one.
      { env: { ...process.env, TMPDIR: directory } },
    );
  } catch (cause) {
    throw new Error(
      "mariadb-install-db failed. If it is missing, install it, for example: apt-get install mariadb-server",
      { cause },
    );
  }
}

/** Resolves to true when the server sends its greeting, which it does once it accepts commands. */
function greets({ host, port }: Address): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host);
    const end = (greeted: boolean): void => {
      socket.destroy();
      resolve(greeted);
    };
    socket.setTimeout(1_000, () => end(false));
    socket.once("data", () => end(true));
    socket.once("error", () => end(false));
    socket.once("close", () => end(false));
  });
}
