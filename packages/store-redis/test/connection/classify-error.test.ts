import { expect, test } from "vitest";
import { classifyError, type Failure } from "../../src/connection/classify-error.js";

type Expected = Pick<Failure, "mayHaveApplied" | "retry" | "drop">;
const refused: Expected = { mayHaveApplied: false, retry: false, drop: false };
const transient: Expected = { ...refused, retry: true };
const elsewhere: Expected = { ...transient, drop: true };
const unknown: Expected = { ...transient, mayHaveApplied: true };

const table: [string, Expected, string][] = [
  ["LOADING Redis is loading the dataset in memory", transient, "LOADING"],
  ["READONLY You can't write against a read only replica.", elsewhere, "READONLY"],
  ["MASTERDOWN Link with MASTER is down", elsewhere, "MASTERDOWN"],
  ["CLUSTERDOWN The cluster is down", transient, "CLUSTERDOWN"],
  ["TRYAGAIN Multiple keys request during rehashing of slot", transient, "TRYAGAIN"],
  ["MOVED 1234 127.0.0.1:7000", transient, "MOVED"],
  ["ASK 1234 127.0.0.1:7000", transient, "ASK"],
  ["BUSY Redis is busy running a script.", transient, "BUSY"],
  ["NOREPLICAS Not enough good replicas to write.", transient, "NOREPLICAS"],
  ["MISCONF Redis is configured to save RDB snapshots", refused, "MISCONF"],
  ["OOM command not allowed when used memory > 'maxmemory'.", refused, "OOM"],
  ["NOAUTH Authentication required.", refused, "NOAUTH"],
  ["WRONGPASS invalid username-password pair", refused, "WRONGPASS"],
  ["NOPERM this user has no permissions", refused, "NOPERM"],
  ["WRONGTYPE Operation against a key", refused, "WRONGTYPE"],
  ["ERR unknown command 'secret', with args beginning with: 'secret'", refused, "ERR"],
  ["Too many Cluster redirections. Last error: ReplyError: MOVED 1 secret:1", transient, "down"],
  ["Stream isn't writeable and enableOfflineQueue options is false", transient, "down"],
  ["The client is offline", transient, "down"],
  ["Connection is closed.", unknown, "lost"],
  ["Socket closed unexpectedly", unknown, "lost"],
  ["Command aborted due to connection close", unknown, "lost"],
  ["Socket timeout. Expecting data, but didn't receive any in 5ms.", unknown, "in time"],
  ["secret", unknown, "lost"],
];

test.each(table)("%s", (message, expected, word) => {
  const failure = classifyError(new Error(message), true);
  expect(failure).toMatchObject(expected);
  expect(failure.reason).toContain(word);
  expect(JSON.stringify(failure)).not.toMatch(/secret|127\.0\.0\.1/);
});

test("an error before anything was sent means that nothing was applied", () => {
  for (const [message] of table)
    expect(classifyError(new Error(message), false).mayHaveApplied, message).toBe(false);
});

test("the system's code is named, its address is not", () => {
  const error = Object.assign(new Error("connect ECONNREFUSED 10.1.2.3:6379"), {
    code: "ECONNREFUSED",
  });
  expect(classifyError(error, false).reason).toBe("no connection to Redis (ECONNREFUSED)");
  const reset = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
  expect(classifyError(reset, true)).toMatchObject(unknown);
});

test("what is no error is taken for a lost connection", () => {
  for (const thrown of [undefined, null, "secret", { message: "secret" }, 7]) {
    const failure = classifyError(thrown, true);
    expect(failure).toMatchObject(unknown);
    expect(JSON.stringify(failure)).not.toContain("secret");
  }
});
