import assert from "node:assert/strict";
import type { ConversationLog, Slot } from "@holdfast/core";
import type { LogSession } from "@holdfast/core/store-kit";
import { assertRejects } from "../conformance/assert-rejects.js";
import type { ConformanceCase } from "../conformance/conformance-case.js";
import { messageRecord } from "../conformance/sample-records.js";
import type { LogCase } from "./log-case.js";

const user = { agentId: "agent", userId: "user" };

/** Listing sessions. */
export function sessionCases(check: LogCase): ConformanceCase[] {
  return [
    check("it lists the sessions of a user with an agent, and no others", async (log) => {
      const mine = ["s-1", "S-1", "a/b", "*", "ß", "x".repeat(255)].map((sessionId) => ({
        ...user,
        sessionId,
      }));
      const others: Slot[] = [
        { ...user, agentId: "AGENT", sessionId: "s-2" },
        { ...user, userId: "User", sessionId: "s-3" },
        { ...user, userId: "user/x", sessionId: "s-4" },
        { ...user, userId: null, sessionId: "s-5" },
      ];
      for (const slot of [...mine, ...others]) await log.append(slot, [messageRecord("hello")]);
      const listed = await all(log, 100);
      assert.deepStrictEqual(idsOf(listed), mine.map(({ sessionId }) => sessionId).sort());
      for (const { slot, lastAt } of listed) {
        assert.deepStrictEqual(slot, { ...user, sessionId: slot.sessionId });
        assert.ok(
          Math.abs(Date.parse(lastAt) - Date.now()) < 120_000,
          "lastAt is a time, about now",
        );
      }
      assert.deepStrictEqual(await log.sessions({ agentId: "agent", userId: "nobody" }), {
        sessions: [],
      });
    }),
    check("it lists sessions page by page, each once", async (log) => {
      const ids = Array.from({ length: 23 }, (_, index) => `session-${index}`);
      for (const sessionId of ids) await log.append({ ...user, sessionId }, [messageRecord("x")]);
      for (const limit of [1, 10, 23, 100])
        assert.deepStrictEqual(idsOf(await all(log, limit)), [...ids].sort(), `pages of ${limit}`);
    }),
    check("a session whose log was deleted is not listed", async (log) => {
      for (const sessionId of ["kept", "gone"])
        await log.append({ ...user, sessionId }, [messageRecord("x")]);
      await log.delete({ ...user, sessionId: "gone" });
      assert.deepStrictEqual(idsOf(await all(log, 100)), ["kept"]);
    }),
    check("a listing without a user is refused", async (log) => {
      const list = () => log.sessions({ agentId: "agent", userId: null as unknown as string });
      await assertRejects(list, "InvalidIdError", "listing anonymous sessions");
    }),
  ];
}

function idsOf(sessions: readonly LogSession[]): string[] {
  return sessions.map(({ slot }) => slot.sessionId).sort();
}

async function all(log: ConversationLog, limit: number): Promise<LogSession[]> {
  const sessions: LogSession[] = [];
  let cursor: string | undefined;
  do {
    const page = await log.sessions({ ...user, limit, cursor });
    assert.ok(page.sessions.length <= limit, "no more than asked for");
    sessions.push(...page.sessions);
    assert.ok(sessions.length <= 1_000, "the listing comes to an end");
    cursor = page.cursor;
  } while (cursor !== undefined);
  return sessions;
}
