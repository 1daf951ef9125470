import { InvalidInputError } from "@holdfast/core";
import { MysqlAgentStateStore } from "@holdfast/store-mysql";
import { afterEach, beforeEach, expect, test } from "vitest";
import { dropTables, freshPrefix, testPool } from "../log/fresh-tables.js";
import { slotNamed, turnWrite } from "../state/turns.js";

const pool = testPool();
let prefix: string;
let store: MysqlAgentStateStore;

beforeEach(() => {
  prefix = freshPrefix();
  store = new MysqlAgentStateStore({ pool, tablePrefix: prefix });
});
afterEach(() => dropTables(pool, prefix));

test("a listing says when a session was saved and how many messages it has, to the millisecond", async () => {
  const slot = slotNamed("s");
  const start = Date.now();
  await store.save(slot, turnWrite(slot, null, 0));
  const [info] = (await store.list()).slots;
  expect(info).toMatchObject({ slot, messages: 1 });
  expect(info?.updatedAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  // The server's clock is this machine's in tests; a minute would show a wrong time zone.
  expect(Math.abs(Date.parse(info?.updatedAt ?? "") - start)).toBeLessThan(60_000);
});

test("a session saved while its listing is paged is not shown twice, and others are all shown", async () => {
  const slots = Array.from({ length: 9 }, (_, index) => slotNamed(`s${index}`));
  const revisions = new Map<string, string>();
  for (const slot of slots)
    revisions.set(slot.sessionId, await store.save(slot, turnWrite(slot, null, 0)));
  await pool.query(`UPDATE ${prefix}slots SET listed_at = listed_at - INTERVAL 1 HOUR`);
  const shown: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.list({ agentId: "agent", userId: "user", limit: 2, cursor });
    shown.push(...page.slots.map(({ slot }) => slot.sessionId));
    const last = slotNamed(shown.at(-1) ?? "");
    const revision = revisions.get(last.sessionId) ?? null;
    revisions.set(last.sessionId, await store.save(last, turnWrite(last, revision, 1)));
    cursor = page.cursor;
    if (shown.length > 20) break;
    // Each is saved once while it was just shown; then it is at the front.
    revisions.delete(last.sessionId);
  } while (cursor !== undefined);
  expect([...shown].sort()).toEqual(slots.map(({ sessionId }) => sessionId).sort());
  expect((await store.list({ limit: 1 })).slots[0]?.slot.sessionId).toBe(shown.at(-1));
});

test("a cursor that is none of ours is refused", async () => {
  for (const cursor of ["", "x", Buffer.from("2026-01-01").toString("base64url")])
    await expect(store.list({ cursor })).rejects.toSatisfy(InvalidInputError.is);
});
