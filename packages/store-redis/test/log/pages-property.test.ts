import type { LogSession } from "@holdfast/core/store-kit";
import fc from "fast-check";
import { Redis } from "ioredis";
import { afterAll, expect, inject, test } from "vitest";
import { connect } from "../../src/connection/redis-connection.js";
import { logIndexKey } from "../../src/keys.js";
import { ownPrefix, redisLogs } from "./redis-logs.js";
import { messageRecord } from "./sample-records.js";
import { limitedSearch, searchEverything } from "./search-everything.js";

const runs = process.env["HOLDFAST_LONG"] === "1" ? 500 : 40;
const redis = redisLogs();
const keyPrefix = ownPrefix();
const log = redis.open({ keyPrefix });
const recipe = new Redis(inject("redisUrl"), { lazyConnect: true });
const connection = connect(recipe, { commandTimeoutMs: 10_000 });
const search = limitedSearch(connection, keyPrefix);
afterAll(() => connection.close());

const session = fc.constantFrom("a", "b", "c", "d", "e");
const content = fc.constantFrom("needle", "hay", "long hay", "long needle");
const step = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(fc.constant("append"), session, fc.array(content)) },
  { weight: 1, arbitrary: fc.tuple(fc.constant("delete"), session, fc.constant([])) },
  { weight: 1, arbitrary: fc.tuple(fc.constant("lose"), session, fc.constant([])) },
);
const limits = fc.record({
  records: fc.constantFrom(1, 2, 5, 1_000),
  chars: fc.constantFrom(1, 1_000, 1_000_000),
  ms: fc.constantFrom(0, 60_000),
});

test("whatever was appended, deleted and lost, pages of sessions and of a search hold everything once", async () => {
  let round = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 15 }),
      fc.constantFrom("as they are", "at the same time", "long ago"),
      fc.integer({ min: 1, max: 4 }),
      limits,
      async (steps, times, limit, budget) => {
        const owner = { agentId: `agent ${round++}`, userId: "user" };
        const index = logIndexKey(keyPrefix, owner.agentId, owner.userId);
        const logged = new Map<string, string[]>();
        for (const [number, [kind, sessionId, contents]] of steps.entries()) {
          const slot = { ...owner, sessionId };
          if (kind === "append" && contents.length > 0) {
            const records = contents.map((text, at) =>
              messageRecord(text.replace("long", "hay ".repeat(20_000)), `${number}.${at}`),
            );
            await log.append(slot, records);
            const found = records.filter((_, at) => contents[at]?.includes("needle"));
            const ids = found.map(({ id }) => id);
            logged.set(sessionId, [...(logged.get(sessionId) ?? []), ...ids]);
          }
          if (kind === "append") continue;
          expect(await log.delete(slot)).toBe(logged.delete(sessionId));
          // As after a crash or a failover: the entry is there, its log is not.
          if (kind === "lose") await redis.client.zadd(index, Date.now(), sessionId);
        }
        const then = Date.now() - 3_600_000;
        if (times !== "as they are")
          for (const [at, member] of (await redis.client.zrange(index, "0", "-1")).entries())
            await redis.client.zadd(index, times === "long ago" ? then - at : then, member);

        const query = { ...owner, text: "needle", limit };
        const { hits } = await searchEverything((each) => search(each, budget), query, 400);
        const sessions = await allSessions(owner, limit);
        const dates = sessions.map(({ lastAt }) => lastAt);
        expect(dates).toEqual([...dates].sort().reverse());
        expect(sessions.map(({ slot }) => slot.sessionId).sort()).toEqual(
          [...logged.keys()].sort(),
        );
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
