import { type ConversationLog, InMemoryConversationLog, userMessage } from "@holdfast/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ConversationSearch } from "../src/ranked/conversation-search.js";

const AT = "2020-01-01T00:00:00.000Z";

/** A log that lists all sessions as last written to long ago: an index that knows a session of that id does not read it again. */
function quietLog(): ConversationLog {
  const log = new InMemoryConversationLog();
  return {
    contract: 1,
    kind: "quiet",
    reach: "distributed",
    append: log.append.bind(log),
    read: log.read.bind(log),
    readBlob: log.readBlob.bind(log),
    search: log.search.bind(log),
    delete: log.delete.bind(log),
    async sessions(query) {
      const { sessions, ...page } = await log.sessions(query);
      return { ...page, sessions: sessions.map(({ slot }) => ({ slot, lastAt: AT })) };
    },
  };
}

const slots = ["desk", "shop"].flatMap((agentId) => [
  { agentId, userId: "ada", sessionId: "one" },
  { agentId, userId: "eve", sessionId: "one" },
  { agentId, userId: null, sessionId: "one" },
  { agentId, userId: null, sessionId: "two" },
]);

test("an index answers its own user and agent only, though ids and times are those of others", async () => {
  const log = quietLog();
  for (const [n, slot] of slots.entries()) {
    const message = userMessage(`My zebra is called stripe${n}x.`);
    await log.append(slot, [{ v: 1, id: "r1", callId: "c", at: AT, kind: "message", message }]);
  }
  const asking = fc.array(fc.nat({ max: slots.length - 1 }), { minLength: 2, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(asking, async (numbers) => {
      const search = new ConversationSearch({ log });
      for (const number of numbers) {
        const { sessionId, ...owner } = slots[number] as (typeof slots)[number];
        const scope = { ...owner, ...(owner.userId === null && { sessionId }) };
        for (const [other, slot] of slots.entries()) {
          const query = `stripe${other}x`;
          const { hits, words } = await search.search({ ...scope, query });
          expect(hits.map((hit) => hit.slot)).toEqual(other === number ? [slot] : []);
          // An index of others does not even tell how often it has the word.
          expect(words.map(({ texts }) => texts)).toEqual([other === number ? 1 : 0]);
        }
      }
    }),
  );
});
