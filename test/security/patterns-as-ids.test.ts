import { type DistributedStore, userMessage } from "@holdfast/core";
import { expect, test } from "vitest";
import { said, writeOn } from "../encryption/stored.js";
import { report, slow } from "./corpus.js";
import { placeOf, sharedStores } from "./every-place.js";
import { inBatches } from "./hostile-slots.js";

/** Ids that match others where they are taken for a pattern of Redis, SQL, a shell or a regular expression. */
const patterns = [
  ...["*", "**", "?", "??", "[a-z]*", "[^a]*", "[*]", "\\*", "\\", "\\\\", "a*", "*a", "{a,b}"],
  ...["%", "%%", "_", "__", "a%", "%a", "\\%", "\\_", "' OR ''='", "1 OR 1=1", "a' --", '"'],
  ...[".*", ".+", "^", "$", "a|b", "(a)", "[[:alpha:]]", "**/*", "../*", "~", "!(a)", "@(a)"],
];
const plain = ["a", "b", "ab", "abc", "alice", "z", "0", "A"];
const ids = [...patterns, ...plain];

/** All pages of a listing. */
async function all<T>(
  page: (
    cursor: string | undefined,
  ) => Promise<{ items: readonly T[]; cursor?: string | undefined }>,
): Promise<T[]> {
  const found: T[] = [];
  let cursor: string | undefined;
  do {
    const { items, cursor: next } = await page(cursor);
    found.push(...items);
    cursor = next;
  } while (cursor !== undefined);
  return found;
}

function listing({ stateStore, log, keyValue }: DistributedStore) {
  return {
    states: (query: { userId?: string; agentId?: string }) =>
      all(async (cursor) => {
        const page = await stateStore.list({ ...query, cursor, limit: 7 });
        return { items: page.slots.map(({ slot }) => slot), cursor: page.cursor };
      }),
    logs: (userId: string) =>
      all(async (cursor) => {
        const page = await log.sessions({ agentId: "agent", userId, cursor, limit: 7 });
        return { items: page.sessions.map(({ slot }) => slot), cursor: page.cursor };
      }),
    keys: (namespace: readonly string[], prefix: string | undefined) =>
      all(async (cursor) => {
        const page = await keyValue.list(namespace, { prefix, cursor, limit: 7 });
        return { items: page.keys, cursor: page.cursor };
      }),
  };
}

test.for(sharedStores)(
  "%s: ids that are patterns elsewhere list, find and delete exactly their own",
  slow,
  async (kind, context) => {
    const place = await placeOf(kind);
    const store = place.open();
    await inBatches(ids, async (id) => {
      for (const sessionId of ["one", id]) {
        const slot = { agentId: "agent", userId: id, sessionId };
        await store.stateStore.save(slot, writeOn(null, [userMessage(id)], { head: { id } }));
        await store.log.append(slot, [said(`word of ${id}`)]);
      }
      const owned = { agentId: id, userId: "user", sessionId: "one" };
      await store.stateStore.save(owned, writeOn(null, [], { head: { id } }));
      await store.keyValue.put([id], "key", id);
      await store.keyValue.put(["all"], id, id);
    });
    const { states, logs, keys } = listing(place.open());
    let lists = 0;
    for (const id of ids) {
      const own = [...new Set(["one", id])].sort();
      const sessionsOf = (slots: readonly { userId: string | null; sessionId: string }[]) => {
        expect(slots.map(({ userId }) => userId)).toEqual(slots.map(() => id));
        return slots.map(({ sessionId }) => sessionId).sort();
      };
      expect(sessionsOf(await states({ agentId: "agent", userId: id }))).toEqual(own);
      expect((await states({ agentId: id })).map(({ agentId }) => agentId)).toEqual([id]);
      expect(sessionsOf(await logs(id))).toEqual(own);
      const { hits } = await store.log.search({ agentId: "agent", userId: id, text: "word of" });
      expect(new Set(hits.map(({ slot }) => slot.userId))).toEqual(new Set([id]));
      expect(hits).toHaveLength(own.length);
      // As text, too, a pattern means itself.
      const literal = await store.log.search({ agentId: "agent", userId: "alice", text: id });
      expect(literal.hits.length > 0).toBe("word of alice".includes(id.toLowerCase()));
      expect(await keys([id], undefined)).toEqual(["key"]);
      const begins = ids.filter((other) => other.startsWith(id)).sort();
      expect([...(await keys(["all"], id))].sort()).toEqual(begins);
      lists += 7;
    }
    for (const id of patterns)
      for (const sessionId of new Set(["one", id])) {
        const slot = { agentId: "agent", userId: id, sessionId };
        expect(await store.stateStore.delete(slot)).toBe(true);
        expect(await store.log.delete(slot)).toBe(true);
      }
    const left = await states({ agentId: "agent" });
    expect(left.map(({ userId }) => userId).sort()).toEqual([...plain, ...plain].sort());
    for (const id of plain) expect(await logs(id)).toHaveLength(2);
    report(context, { ids: ids.length, "lists and searches": lists });
  },
);
