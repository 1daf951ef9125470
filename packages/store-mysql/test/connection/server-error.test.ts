import { expect, test } from "vitest";
import { readServerError } from "../../src/connection/server-error.js";

const server = (errno: number, code: string) => ({ errno, code, sqlState: "HY000" });

test.each([
  [server(1213, "ER_LOCK_DEADLOCK"), "retry", true, true],
  [server(1205, "ER_LOCK_WAIT_TIMEOUT"), "retry", true, true],
  [server(1020, "ER_CHECKREAD"), "retry", true, true],
  [server(3101, "ER_TRANSACTION_ROLLBACK_DURING_COMMIT"), "retry", true, true],
  [server(1062, "ER_DUP_ENTRY"), "duplicate", true, true],
  [server(1153, "ER_NET_PACKET_TOO_LARGE"), "too-large", true, true],
  [server(1406, "ER_DATA_TOO_LONG"), "too-large", true, true],
  [server(1290, "ER_OPTION_PREVENTS_STATEMENT"), "unavailable", true, false],
  [server(1836, "ER_READ_ONLY_MODE"), "unavailable", true, false],
  [server(1792, "ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION"), "unavailable", true, false],
  [server(1040, "ER_CON_COUNT_ERROR"), "unavailable", true, true],
  [server(1045, "ER_ACCESS_DENIED_ERROR"), "unavailable", true, true],
  [server(1146, "ER_NO_SUCH_TABLE"), "unavailable", true, true],
  [server(1114, "ER_RECORD_FILE_FULL"), "unavailable", true, true],
  [server(1064, "ER_PARSE_ERROR"), "unsupported", true, true],
  [server(1295, "ER_UNSUPPORTED_PS"), "unsupported", true, true],
  [server(1243, "ER_UNKNOWN_STMT_HANDLER"), "lost", true, false],
  [server(1927, "ER_CONNECTION_KILLED"), "lost", false, false],
  [server(1053, "ER_SERVER_SHUTDOWN"), "lost", false, false],
  [server(4031, "ER_CLIENT_INTERACTION_TIMEOUT"), "lost", false, false],
  [{ errno: -104, code: "ECONNRESET", fatal: true }, "lost", false, false],
  [{ errno: -111, code: "ECONNREFUSED", fatal: true }, "lost", false, false],
  [{ code: "PROTOCOL_CONNECTION_LOST", fatal: true }, "lost", false, false],
  [{ code: "ETIMEDOUT" }, "lost", false, false],
  [new Error("Pool is closed."), "lost", false, false],
  [undefined, "lost", false, false],
])("%o is %s", (error, verdict, isRefusal, keepsConnection) => {
  expect(readServerError(error)).toMatchObject({ verdict, isRefusal, keepsConnection });
});

test("of an error only its code is kept", () => {
  const error = Object.assign(new Error("secret"), {
    ...server(1064, "ER_PARSE_ERROR"),
    sql: "secret",
    sqlMessage: "secret",
  });
  expect(JSON.stringify(readServerError(error))).not.toContain("secret");
  expect(readServerError({ code: "secret password" }).code).toBe("UNKNOWN");
});
