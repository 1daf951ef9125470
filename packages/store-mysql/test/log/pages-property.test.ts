import type { LogSession } from "@holdfast/core/store-kit";
import { MysqlAgentStateStore, MysqlConversationLog } from "@holdfast/store-mysql";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { turnWrite } from "../state/turns.js";
import { dropTables, freshPrefix, testPool } from "./fresh-tables.js";
import { textRecord } from "./log-records.js";
import { limitedSearch, searchEverything } from "./search-everything.js";

const runs = process.env["HOLDFAST_LONG"] === "1" ? 300 : 25;
const pool = testPool();
const tablePrefix = freshPrefix();
const log = new MysqlConversationLog({ pool, tablePrefix });
const store = new MysqlAgentStateStore({ pool, tablePrefix });
const search = limitedSearch(pool, tablePrefix);
beforeAll(() => store.list());
afterAll(() => dropTables(pool, tablePrefix));

const session = fc.constantFrom("a", "b", "c", "d", "e");
const content = fc.constantFrom("needle", "hay", "long hay", "long needle");
const step = fc.oneof(
  { weight: 5, arbitrary: fc.tuple(fc.constant("append"), session, fc.array(content)) },
  { weight: 2, arbitrary: fc.tuple(fc.constant("delete"), session, fc.constant([])) },
  { weight: 1, arbitrary: fc.tuple(fc.constant("save state"), session, fc.constant([])) },
  { weight: 1, arbitrary: fc.tuple(fc.constant("delete state"), session, fc.constant([])) },
);
const limits = fc.record({
  records: fc.constantFrom(1, 3, 1_000),
  bytes: fc.constantFrom(1, 1_000, 1_000_000),
  ms: fc.constantFrom(0, 60_000),
  windowRecords: fc.constantFrom(1, 2, 5, 512),
});

test("whatever was appended and deleted, pages of sessions and of a search hold everything once", async () => {
  let round = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 15 }),
      fc.boolean(),
      fc.integer({ min: 1, max: 4 }),
      limits,
      async (steps, sameTime, limit, budget) => {
        const owner = { agentId: `agent ${round++}`, userId: "user" };
        const logged = new Map<string, string[]>();
        const saved = new Set<string>();
        for (const [number, [kind, sessionId, contents]] of steps.entries()) {
          const slot = { ...owner, sessionId };
          if (kind === "append" && contents.length > 0) {
            const records = contents.map((text, index) =>
              textRecord(`${number}.${index}`, text.replace("long", "hay ".repeat(20_000))),
            );
            await log.append(slot, records);
            const found = records.filter((_, index) => contents[index]?.includes("needle"));
            const ids = found.map(({ id }) => id);
            logged.set(sessionId, [...(logged.get(sessionId) ?? []), ...ids]);
          }
          if (kind === "delete") expect(await log.delete(slot)).toBe(logged.delete(sessionId));
          if (kind === "save state" && !saved.has(sessionId)) {
            await store.save(slot, turnWrite(slot, null, 0, { log: [] }));
            saved.add(sessionId);
          }
          if (kind === "delete state")
            expect(await store.delete(slot)).toBe(saved.delete(sessionId));
        }
        if (sameTime)
          await pool.query(
            `UPDATE ${tablePrefix}slots SET listed_at = '2026-01-01' WHERE listed_at IS NOT NULL AND agent_id = ?`,
            [owner.agentId],
          );

        const sessions = await allSessions(owner, limit);
        const times = sessions.map(({ lastAt }) => lastAt);
        expect(times).toEqual([...times].sort().reverse());
        expect(sessions.map(({ slot }) => slot.sessionId).sort()).toEqual(
          [...logged.keys()].sort(),
        );
        const states = (await store.list(owner)).slots.map(({ slot }) => slot.sessionId);
        expect(states.sort()).toEqual([...saved].sort());

        const query = { ...owner, text: "needle", limit };
        const { hits } = await searchEverything((each) => search(each, budget), query, 400);
        expect(hits.map((hit) => `${hit.slot.sessionId} ${hit.record.id}`)).toEqual(
          sessions.flatMap(({ slot: { sessionId } }) =>
            [...(logged.get(sessionId) ?? [])].reverse().map((id) => `${sessionId} ${id}`),
          ),
        );
      },
    ),
    { numRuns: runs },
  );
});

async function allSessions(
  owner: { agentId: string; userId: string },
  limit: number,
): Promise<LogSession[]> {
  const sessions: LogSession[] = [];
  let cursor: string | undefined;
  do {
    const page = await log.sessions({ ...owner, limit, cursor });
    expect(page.sessions.length).toBeLessThanOrEqual(limit);
    sessions.push(...page.sessions);
    cursor = page.cursor;
  } while (cursor !== undefined && sessions.length < 100);
  return sessions;
}
