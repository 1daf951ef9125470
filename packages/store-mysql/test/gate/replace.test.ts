import { ConfigurationError } from "@holdfast/core";
import type { Claim, EnterAnswer, EnterTerms, SeenClaim } from "@holdfast/core/store-kit";
import { MysqlSessionGate } from "@holdfast/store-mysql";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openDatabase } from "../../src/connection/open-database.js";
import { MysqlLeaseBackend } from "../../src/gate/mysql-lease-backend.js";
import { readOptions } from "../../src/options.js";
import { dropTables, freshPrefix, testPool } from "../log/fresh-tables.js";
import { slotNamed } from "../state/turns.js";

const pool = testPool();
const slot = slotNamed("replaced");
const claims = new Map<string, Claim>();
let prefix: string;

beforeEach(() => {
  prefix = freshPrefix();
  claims.clear();
});
afterEach(() => dropTables(pool, prefix));

/** The backend of one more process. */
function node(): MysqlLeaseBackend {
  const options = readOptions("test", { pool, tablePrefix: prefix }, ["pool", "tablePrefix"]);
  return new MysqlLeaseBackend(openDatabase(options), 30_000, 4_000);
}

function claimOf(token: string): Claim {
  const claim = claims.get(token) ?? { slot, token, callId: `call-${token}` };
  claims.set(token, claim);
  return claim;
}

function enter(
  backend: MysqlLeaseBackend,
  token: string,
  terms: Partial<EnterTerms> = {},
): Promise<EnterAnswer> {
  return backend.enter(claimOf(token), {
    ...{ mode: "queue", maxQueue: 10, known: undefined, put: undefined, deadlineMs: 30_000 },
    ...terms,
  });
}

/** The claim before one that waits already. */
async function before(backend: MysqlLeaseBackend, token: string): Promise<SeenClaim> {
  const answer = await enter(backend, token, { mode: "again" });
  if (answer.kind !== "wait" || answer.before === undefined) throw new Error(answer.kind);
  return answer.before;
}

test("a holder gives way to the first that waits, unless it was heard of since it was seen", async () => {
  const [a, b] = [node(), node()];
  expect(await enter(a, "a")).toMatchObject({ kind: "granted" });
  await enter(b, "b");
  const seen = await before(b, "b");
  expect(seen.token).toBe("a");
  expect(await a.renew(claimOf("a"), 5_000)).toBe(true);
  const answer = await enter(b, "b", { mode: "again", replaces: seen });
  expect(answer).toMatchObject({ kind: "wait", before: { token: "a" } });
  const replaces = await before(b, "b");
  expect(replaces.version).not.toBe(seen.version);
  expect(await enter(b, "b", { mode: "again", replaces })).toMatchObject({ kind: "granted" });
  expect(await a.renew(claimOf("a"), 5_000)).toBe(false);
  await b.leave(claimOf("b"), []);
  expect(await a.renew(claimOf("a"), 5_000), "the slot is free, but was another's").toBe(false);
  expect(await a.calls(slot)).toEqual([]);
});

test("a holder gives way to a call that may not wait, unless it was heard of since or others wait", async () => {
  const [a, b, c] = [node(), node(), node()];
  await enter(a, "a");
  const refused = async (terms: Partial<EnterTerms> = {}) => {
    const answer = await enter(c, "c", { mode: "refuse", ...terms });
    if (answer.kind !== "busy") throw new Error(answer.kind);
    return answer.before;
  };
  const seen = await refused();
  expect(await c.calls(slot)).toEqual([{ callId: "call-a", claim: seen }]);
  expect(await a.renew(claimOf("a"), 5_000)).toBe(true);
  const replaces = await refused({ replaces: seen });
  expect(replaces).toMatchObject({ token: "a" });
  await enter(b, "b");
  expect(await refused({ replaces })).toBeUndefined();
  await b.leave(claimOf("b"), []);
  expect(await enter(c, "c", { mode: "refuse", replaces })).toMatchObject({ kind: "granted" });
  expect(await a.renew(claimOf("a"), 5_000)).toBe(false);
});

test("a call that waits gives way to the one behind it, which waits on", async () => {
  const [a, b, c] = [node(), node(), node()];
  await enter(a, "a");
  await enter(b, "b");
  await enter(c, "c");
  const replaces = await before(c, "c");
  expect(replaces.token).toBe("b");
  await enter(c, "c", { mode: "again", replaces });
  expect((await c.calls(slot)).map(({ callId }) => callId)).toEqual(["call-a", "call-c"]);
  expect((await before(c, "c")).token).toBe("a");
  await a.leave(claimOf("a"), []);
  expect(await enter(c, "c", { mode: "again" })).toMatchObject({ kind: "granted" });
  await c.leave(claimOf("c"), []);
});

test("nodeTimeoutMs must be less than leaseMs", () => {
  const make = () => new MysqlSessionGate({ pool, leaseMs: 3_000, nodeTimeoutMs: 3_000 });
  expect(make).toThrow(ConfigurationError);
});
