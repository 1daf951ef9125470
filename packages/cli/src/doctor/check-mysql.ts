import type { Pool } from "mysql2/promise";
import { formatBytes } from "../terminal/format.js";
import { checkClock } from "./check-clock.js";
import { atLeast } from "./check-versions.js";
import { broken, type Finding, fine, messageOf, warning } from "./finding.js";

const LEAST_PACKET_BYTES = 16 * 1_024 * 1_024;

const wanted = [
  "version",
  "innodb_flush_log_at_trx_commit",
  "log_bin",
  "sync_binlog",
  "max_allowed_packet",
  "transaction_isolation",
  "tx_isolation",
  "read_only",
] as const;

type Settings = Readonly<Partial<Record<(typeof wanted)[number], string>>>;

/** Checks that a MySQL or MariaDB server is new enough and configured to keep what it commits. */
export async function checkMysql(pool: Pool): Promise<readonly Finding[]> {
  try {
    const settings = await readSettings(pool);
    return [
      versionFinding(settings.version ?? "unknown"),
      ...(settings.read_only === "ON" ? [readOnlyFinding] : []),
      await checkClock(async () => {
        const [rows] = await pool.query("SELECT UNIX_TIMESTAMP(NOW(6)) * 1000 AS now");
        return Number((rows as { now: string }[])[0]?.now);
      }),
      durabilityFinding(settings),
      packetFinding(Number(settings.max_allowed_packet ?? 0)),
      ...isolationFinding(settings.transaction_isolation ?? settings.tx_isolation),
    ];
  } catch (error) {
    const advice = "check that the server answers and that the URL's user may read its variables";
    return [warning("mysql", `the server could not be asked: ${messageOf(error)}`, advice)];
  }
}

async function readSettings(pool: Pool): Promise<Settings> {
  const names = wanted.map((name) => `'${name}'`).join(", ");
  const [rows] = await pool.query({
    sql: `SHOW GLOBAL VARIABLES WHERE Variable_name IN (${names})`,
    timeout: 3_000,
  });
  const pairs = rows as { Variable_name: string; Value: string }[];
  return Object.fromEntries(pairs.map(({ Variable_name, Value }) => [Variable_name, Value]));
}

const readOnlyFinding: Finding = broken(
  "mysql role",
  "the server is read-only, as a replica is",
  "name the primary",
);

function versionFinding(version: string): Finding {
  const oldest = /mariadb/iu.test(version) ? "10.6" : "8.0";
  if (atLeast(version, oldest)) return fine("mysql version", version);
  return broken("mysql version", `${version} is too old`, `use MySQL 8.0 or MariaDB 10.6 or later`);
}

function durabilityFinding(settings: Settings): Finding {
  const { innodb_flush_log_at_trx_commit: flush, log_bin, sync_binlog } = settings;
  const loose: string[] = [];
  if (flush !== "1") loose.push("innodb_flush_log_at_trx_commit = 1");
  if (log_bin === "ON" && sync_binlog !== "1") loose.push("sync_binlog = 1");
  if (loose.length === 0) return fine("mysql durability", "a commit is on disk");
  return warning(
    "mysql durability",
    "a commit is not written to disk at once",
    `a crash of the machine may lose acknowledged saves: set ${loose.join(" and ")}`,
  );
}

function packetFinding(bytes: number): Finding {
  const message = `max_allowed_packet is ${formatBytes(bytes)}`;
  if (bytes >= LEAST_PACKET_BYTES) return fine("mysql packets", message);
  return warning("mysql packets", message, "large messages are refused: set it to 16 MB or more");
}

function isolationFinding(level: string | undefined): readonly Finding[] {
  if (level !== "READ-UNCOMMITTED") return [];
  const advice = "saves could be lost: use REPEATABLE READ, the default";
  return [broken("mysql isolation", "transactions see uncommitted data", advice)];
}
