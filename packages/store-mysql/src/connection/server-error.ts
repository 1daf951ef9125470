/** Consequence of a failed statement for the work it belongs to, as long as nothing of that work can have been applied. */
export type Verdict =
  /** The server rolled back the whole transaction in favour of another: run it again. */
  | "retry"
  /** The connection is lost; another one may work. */
  | "lost"
  | "unavailable"
  | "too-large"
  | "duplicate"
  /** The server does not know such a statement. */
  | "unsupported";

/** Classification of a driver's error. */
export interface ServerError {
  /** For messages, such as `ER_LOCK_DEADLOCK`. */
  readonly code: string;
  readonly verdict: Verdict;
  /** Advice to the operator, for messages. */
  readonly advice: string;
  /** True when the server reported that the statement was not executed; otherwise it may have been. */
  readonly isRefusal: boolean;
  /** True when the connection may go back to the pool. */
  readonly keepsConnection: boolean;
}

interface Rule {
  readonly errnos: readonly number[];
  readonly verdict: Verdict;
  readonly advice: string;
  readonly isRefusal?: false;
  readonly keepsConnection?: false;
}

const busy = "other transactions keep changing the same rows, try again later";
const rights = "check the name, the password and the rights of the pool's user";
const readOnly = "the server is read-only; check that the pool points to the primary";
const tooLarge = "raise max_allowed_packet on the server, or store less at once";

/** Rules by the server's error number; all others are `unavailable`. */
const rules: readonly Rule[] = [
  // Deadlock (Galera: also at COMMIT), lock wait, snapshot overtaken (MariaDB 11.6), rolled back by group replication.
  { errnos: [1213, 1205, 1020, 3101], verdict: "retry", advice: busy },
  { errnos: [1062], verdict: "duplicate", advice: "the row exists already" },
  {
    errnos: [1064, 1295],
    verdict: "unsupported",
    advice: "the server does not know this statement; use MySQL 8 or MariaDB 10.6 and later",
  },
  { errnos: [1153, 1301, 1118, 1406], verdict: "too-large", advice: tooLarge },
  // A replica, or a primary that was taken out of service: only a new connection can lead to the new primary.
  { errnos: [1290, 1792, 1836], verdict: "unavailable", advice: readOnly, keepsConnection: false },
  {
    errnos: [1044, 1045, 1142, 1143, 1227, 1370, 1698],
    verdict: "unavailable",
    advice: rights,
  },
  {
    errnos: [1040, 1203, 1226],
    verdict: "unavailable",
    advice: "too many connections; raise the server's limit or lower the pool's connectionLimit",
  },
  { errnos: [1049], verdict: "unavailable", advice: "create the database the pool names" },
  {
    errnos: [1054, 1146],
    verdict: "unavailable",
    advice: "tables are missing or of another release; run migrate()",
  },
  { errnos: [1021, 1114], verdict: "unavailable", advice: "the server's disk is full" },
  // A proxy that lost its prepared statements, or a table that changed repeatedly during the statement.
  { errnos: [1243, 1615], verdict: "lost", advice: "try again later", keepsConnection: false },
  // Shutting down, killed, idle for too long: the statement may or may not have completed.
  {
    errnos: [1053, 1080, 1152, 1159, 1161, 1184, 1927, 4031],
    verdict: "lost",
    advice: "try again later",
    isRefusal: false,
    keepsConnection: false,
  },
];

const byErrno = new Map(rules.flatMap((rule) => rule.errnos.map((errno) => [errno, rule])));

/** Classifies an error of mysql2. Everything but its code (statement, values, address) is dropped. */
export function readServerError(error: unknown): ServerError {
  const { code, errno, sqlState } = (error ?? {}) as Record<string, unknown>;
  const name = typeof code === "string" && /^[A-Z0-9_]{1,64}$/.test(code) ? code : "UNKNOWN";
  // Errors of the operating system have a (negative) errno, too, but no SQLSTATE.
  const fromServer = typeof errno === "number" && errno >= 1_000 && sqlState !== undefined;
  if (!fromServer)
    return {
      code: name,
      verdict: "lost",
      advice: "check that the server runs and can be reached",
      isRefusal: false,
      keepsConnection: false,
    };
  const rule = byErrno.get(errno);
  return {
    code: `${name} ${errno}`,
    verdict: rule?.verdict ?? "unavailable",
    advice: rule?.advice ?? "see the server's documentation for this error",
    isRefusal: rule?.isRefusal ?? true,
    keepsConnection: rule?.keepsConnection ?? true,
  };
}
