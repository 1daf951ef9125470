import { MysqlAgentStateStore, MysqlConversationLog } from "@holdfast/store-mysql";
import { afterEach, beforeEach, expect, test } from "vitest";
import { slotHash } from "../../src/keys.js";
import { slotNamed, turnWrite } from "../state/turns.js";
import { dropTables, freshPrefix, rowsOf, testPool } from "./fresh-tables.js";
import { loggedSlot as slot, textRecord } from "./log-records.js";
import { type LimitedSearch, limitedSearch, searchEverything } from "./search-everything.js";

const { agentId, userId } = slot;
const query = { agentId, userId, text: "needle" };
const pool = testPool();
let prefix: string;
let log: MysqlConversationLog;
let search: LimitedSearch;

beforeEach(() => {
  prefix = freshPrefix();
  log = new MysqlConversationLog({ pool, tablePrefix: prefix });
  search = limitedSearch(pool, prefix);
});
afterEach(() => dropTables(pool, prefix));

test("a search that runs out of records ends between two statements and goes on behind what it looked at", async () => {
  const hay = Array.from({ length: 9 }, (_, index) => textRecord(`h${index}`, "hay"));
  await log.append(slot, [textRecord("first", "needle"), ...hay]);
  const limits = { records: 1, windowRecords: 4 };
  expect(await search(query, limits)).toEqual({ hits: [], next: { sessionId: "session", seq: 7 } });
  const { hits, pages } = await searchEverything((each) => search(each, limits), query);
  expect(hits.map(({ record }) => record.id)).toEqual(["first"]);
  // The last hit takes the last of its budget: only the page behind it knows that there is no more.
  expect(pages).toBe(4);
});

test("a search whose time is up at once looks at something all the same", async () => {
  for (const sessionId of ["a", "b", "c"])
    await log.append({ ...slot, sessionId }, [textRecord("1", "needle"), textRecord("2", "hay")]);
  const limits = { ms: 0, windowRecords: 1 };
  const { hits, pages } = await searchEverything((each) => search(each, limits), query);
  expect(hits.map((hit) => hit.slot.sessionId).sort()).toEqual(["a", "b", "c"]);
  expect(pages).toBeLessThanOrEqual(7);
});

test("a record with a long text is looked at to its end, however few bytes are left", async () => {
  await log.append(slot, [
    textRecord("long", `${"hay ".repeat(200_000)}needle`),
    textRecord("short", "needle"),
  ]);
  const limits = { bytes: 1 };
  const first = await search(query, limits);
  expect(first.hits.map(({ record }) => record.id)).toEqual(["short"]);
  const { hits } = await searchEverything((each) => search(each, limits), query);
  expect(hits.map(({ record }) => record.id)).toEqual(["short", "long"]);
});

test("what a search stopped at may be deleted: then it begins again, and ends", async () => {
  for (const sessionId of ["a", "b"])
    await log.append({ ...slot, sessionId }, [
      textRecord("1", "needle"),
      textRecord("2", "needle"),
    ]);
  const { hits, next } = await log.search({ ...query, limit: 1 });
  await log.delete(hits[0]?.slot ?? slot);
  const rest = await searchEverything((each) => log.search(each), { ...query, limit: 1 });
  const left = next?.sessionId === "a" ? "b" : "a";
  const on = await log.search({ ...query, before: next });
  for (const found of [rest.hits, on.hits])
    expect(found.map((hit) => `${hit.slot.sessionId} ${hit.record.id}`)).toEqual([
      `${left} 2`,
      `${left} 1`,
    ]);
});

test("a search in one session heeds only a place in it", async () => {
  await log.append(slot, [textRecord("1", "needle"), textRecord("2", "needle")]);
  const inSession = { ...query, sessionId: slot.sessionId };
  const from = async (before: { sessionId: string; seq: number }) =>
    (await log.search({ ...inSession, before })).hits.map(({ record }) => record.id);
  expect(await from({ sessionId: slot.sessionId, seq: 2 })).toEqual(["1"]);
  expect(await from({ sessionId: slot.sessionId, seq: 1 })).toEqual([]);
  expect(await from({ sessionId: "another", seq: 1 })).toEqual(["2", "1"]);
});

test("hundreds of sessions, more than one statement reads, are all searched and listed", async () => {
  const count = 600;
  await log.append(slot, [textRecord("1", "needle")]);
  // Copies of its rows: appending to each would take its time. Under its own key each can be gone on from.
  const copies = Array.from({ length: count }, (_, number) => {
    const key = slotHash({ ...slot, sessionId: String(number) });
    return `SELECT UNHEX('${key.toString("hex")}') AS copy, ${number} AS number`;
  }).join(" UNION ALL ");
  await pool.query(
    `INSERT INTO ${prefix}slots (k, agent_id, user_id, session_id, agent, owner, listed_at, log_seq)
SELECT copy, agent_id, user_id, number, agent, owner, listed_at, 1 FROM ${prefix}slots, (${copies}) copies`,
  );
  await pool.query(
    `INSERT INTO ${prefix}log (k, record_seq, id, call_id, at, kind, body)
SELECT copy, 1, id, call_id, at, kind, body FROM ${prefix}log, (${copies}) copies`,
  );
  // A busy machine may need more than the time of one search.
  const { hits } = await searchEverything((each) => log.search(each), { ...query, limit: 1_000 });
  expect(new Set(hits.map((hit) => hit.slot.sessionId)).size).toBe(count + 1);
  expect(hits).toHaveLength(count + 1);
  const { sessions } = await log.sessions({ agentId, userId: "user", limit: 1_000 });
  expect(new Set(sessions.map((each) => each.slot.sessionId)).size).toBe(count + 1);
});

test("a session is listed by its log and by its state as long as it has them", async () => {
  const store = new MysqlAgentStateStore({ pool, tablePrefix: prefix });
  const owner = { agentId, userId: "user" };
  const listed = async () => ({
    states: (await store.list(owner)).slots.map((each) => each.slot.sessionId).sort(),
    logs: (await log.sessions(owner)).sessions.map((each) => each.slot.sessionId).sort(),
  });
  const [both, state, logged] = ["both", "state", "logged"].map((id) => slotNamed(id));
  if (!both || !state || !logged) throw new Error("three slots");
  await store.save(both, turnWrite(both, null, 0));
  await store.save(state, turnWrite(state, null, 0, { log: [] }));
  await log.append(logged, [textRecord("1", "hello")]);
  expect(await listed()).toEqual({ states: ["both", "state"], logs: ["both", "logged"] });
  await store.delete(both);
  expect(await listed()).toEqual({ states: ["state"], logs: ["both", "logged"] });
  await log.delete(logged);
  await log.delete(both);
  expect(await listed()).toEqual({ states: ["state"], logs: [] });
  expect(await rowsOf(pool, `SELECT COUNT(*) FROM ${prefix}slots`)).toEqual([[1]]);
});

test("a listing has the session written to last first, with the server's time, and refuses a strange cursor", async () => {
  for (const sessionId of ["old", "middle", "new"])
    await log.append({ ...slot, sessionId }, [textRecord("1", "x", { at: "long ago" })]);
  const move = `UPDATE ${prefix}slots SET listed_at = ? WHERE session_id = ?`;
  for (const [hour, sessionId] of ["old", "middle", "new"].entries())
    await pool.query(move, [`2026-01-01 0${hour}:00:00.123456`, sessionId]);
  const first = await log.sessions({ agentId, userId: "user", limit: 2 });
  expect(first.sessions.map((each) => [each.slot.sessionId, each.lastAt])).toEqual([
    ["new", "2026-01-01T02:00:00.123Z"],
    ["middle", "2026-01-01T01:00:00.123Z"],
  ]);
  await log.append({ ...slot, sessionId: "old" }, [textRecord("2", "x")]);
  const [front] = (await log.sessions({ agentId, userId: "user" })).sessions;
  expect(front?.slot.sessionId).toBe("old");
  const strange = log.sessions({ agentId, userId: "user", cursor: "x" });
  await expect(strange).rejects.toThrow("cursor");
});
