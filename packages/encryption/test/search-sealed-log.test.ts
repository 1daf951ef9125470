import { InMemoryConversationLog, userMessage } from "@holdfast/core";
import type { LogSessionQuery } from "@holdfast/core/store-kit";
import { beforeEach, expect, test } from "vitest";
import { searchSealedLog } from "../src/search-sealed-log.js";

const owner = { agentId: "agent", userId: "user" };

/** A log that counts the pages of sessions it was asked for. */
class CountingLog extends InMemoryConversationLog {
  pages = 0;

  override sessions(query: LogSessionQuery) {
    this.pages++;
    return super.sessions(query);
  }
}

let log: CountingLog;
beforeEach(async () => {
  log = new CountingLog();
  for (let n = 0; n < 250; n++) {
    const body = { kind: "message", message: userMessage(`word ${n}`) } as const;
    const at = "2026-01-01T00:00:00.000Z";
    await log.append({ ...owner, sessionId: `s${n}` }, [
      { v: 1, id: "1", callId: "c", at, ...body },
    ]);
  }
});

test("a search lists no more of a user's sessions than it looks through", async () => {
  const first = await searchSealedLog(log, { ...owner, text: "word", limit: 3 });
  expect(first.hits.map(({ slot }) => slot.sessionId)).toEqual(["s249", "s248", "s247"]);
  expect(log.pages).toBe(1);
  const next = await searchSealedLog(log, { ...owner, text: "word", before: first.next });
  expect(next.hits[0]?.slot.sessionId).toBe("s246");
  const all = await searchSealedLog(log, { ...owner, text: "word", limit: 1_000 });
  expect(all.hits).toHaveLength(250);
  expect(all.next).toBeUndefined();
});

test("a search that goes on from a session which was deleted begins again", async () => {
  await log.delete({ ...owner, sessionId: "s100" });
  const before = { sessionId: "s100", seq: 1 };
  const { hits } = await searchSealedLog(log, { ...owner, text: "word", limit: 1_000, before });
  expect(hits).toHaveLength(249);
});
