import { beforeEach, describe, expect, test } from "vitest";
import {
  InMemoryConversationLog,
  InvalidInputError,
  type Message,
  type Slot,
  toolResultMessage,
  userMessage,
} from "../../src/index.js";
import { type LogDraft, MAX_INLINE_BYTES, withBlobs } from "../../src/store-kit/index.js";

const slot: Slot = { agentId: "agent", userId: "user", sessionId: "session" };
let log: InMemoryConversationLog;

beforeEach(() => {
  log = new InMemoryConversationLog();
});

let ids = 0;
function said(message: Message | string, id = `r${++ids}`): LogDraft {
  return {
    v: 1,
    id,
    callId: "c",
    at: "2026-01-01T00:00:00.000Z",
    kind: "message",
    message: typeof message === "string" ? userMessage(message) : message,
  };
}

test("records come back in the order given, with rising seq, as copies", async () => {
  const drafts = [said("one"), said("two"), said("three")];
  await log.append(slot, drafts.slice(0, 2));
  await log.append({ ...slot, sessionId: "other" }, [said("elsewhere")]);
  await log.append(slot, drafts.slice(2));
  const records = await log.read(slot);
  expect(records.map(({ seq: _, ...rest }) => rest)).toEqual(drafts);
  const seqs = records.map(({ seq }) => seq);
  expect([...new Set(seqs)].sort((a, b) => a - b)).toEqual(seqs);
  expect(records[0]?.message).not.toBe(drafts[0]?.message);
});

test("a record appended again, in the same batch or later, is not appended twice", async () => {
  const once = said("once", "same");
  await log.append(slot, [once, said("other text, same id", "same")]);
  await log.append(slot, [once, said("new", "fresh")]);
  expect((await log.read(slot)).map(({ id }) => id)).toEqual(["same", "fresh"]);
  await log.append({ ...slot, sessionId: "other" }, [once]);
  expect(await log.read({ ...slot, sessionId: "other" })).toHaveLength(1);
});

test("a batch with one record that cannot be kept appends none", async () => {
  const bad = { ...said("x"), message: undefined };
  await expect(log.append(slot, [said("good"), bad])).rejects.toSatisfy(InvalidInputError.is);
  expect(await log.read(slot)).toEqual([]);
});

test("a long text is kept once per slot, apart from the records that hold it", async () => {
  const text = "é".repeat(MAX_INLINE_BYTES);
  await log.append(slot, [said(text), said(text)]);
  const records = await log.read(slot);
  const refs = records.flatMap(({ blobs }) => blobs?.map(({ ref }) => ref) ?? []);
  expect(refs).toHaveLength(2);
  expect(new Set(refs).size).toBe(1);
  for (const record of records) {
    expect(record.message?.content).toEqual([{ type: "text", text: "" }]);
    expect((await withBlobs(log, slot, record)).message?.content).toEqual([{ type: "text", text }]);
  }
  const [ref = ""] = refs;
  expect(await log.readBlob(slot, ref)).toBe(text);
  expect(await log.readBlob({ ...slot, sessionId: "other" }, ref)).toBeNull();
});

test("deleting removes records and blobs of that slot only, and says whether there were any", async () => {
  const text = "x".repeat(MAX_INLINE_BYTES + 1);
  const other = { ...slot, userId: null };
  await log.append(slot, [said(text)]);
  await log.append(other, [said(text)]);
  const ref = (await log.read(slot))[0]?.blobs?.[0]?.ref ?? "";
  expect(await log.delete(slot)).toBe(true);
  expect(await log.delete(slot)).toBe(false);
  expect(await log.read(slot)).toEqual([]);
  expect(await log.readBlob(slot, ref)).toBeNull();
  expect(await log.readBlob(other, ref)).toBe(text);
});

describe("a search", () => {
  const query = { agentId: "agent", userId: "user", text: "needle" };

  test("finds text in any case, the session written to last first, in each the newest first", async () => {
    const second = { ...slot, sessionId: "second" };
    await log.append(slot, [said("a Needle", "1"), said("nothing", "2")]);
    await log.append(second, [said("NEEDLES", "3")]);
    await log.append(slot, [said("the needle", "4")]);
    const { hits } = await log.search(query);
    expect(hits.map((hit) => [hit.record.id, hit.snippet])).toEqual([
      ["4", "the needle"],
      ["1", "a Needle"],
      ["3", "NEEDLES"],
    ]);
    expect(hits[2]?.slot).toEqual(second);
    const inOne = await log.search({ ...query, sessionId: "session" });
    expect(inOne.hits.map((hit) => hit.record.id)).toEqual(["4", "1"]);
  });

  test("sees no other user, agent, and no anonymous session", async () => {
    for (const other of [
      { ...slot, userId: "another" },
      { ...slot, userId: null },
      { ...slot, agentId: "another" },
    ])
      await log.append(other, [said("needle")]);
    expect(await log.search(query)).toEqual({ hits: [] });
    const anonymous = await log.search({ ...query, userId: null, sessionId: "session" });
    expect(anonymous.hits).toHaveLength(1);
    await expect(log.search({ ...query, userId: null })).rejects.toSatisfy(InvalidInputError.is);
  });

  test("finds what lies in a blob and returns the record short", async () => {
    const output = [{ type: "text" as const, text: `${"x".repeat(MAX_INLINE_BYTES)} needle end` }];
    const message = toolResultMessage({
      type: "tool_result",
      toolCallId: "t",
      name: "n",
      output,
      state: "success",
    });
    await log.append(slot, [said(message)]);
    const [hit] = (await log.search(query)).hits;
    expect(hit?.snippet).toMatch(/^…x+ needle end$/);
    expect(hit?.record.blobs).toHaveLength(1);
  });

  test("gives 10 hits, or as many as asked for", async () => {
    await log.append(
      slot,
      Array.from({ length: 30 }, () => said("needle")),
    );
    expect((await log.search(query)).hits).toHaveLength(10);
    expect((await log.search({ ...query, limit: 25 })).hits).toHaveLength(25);
  });

  test("says where to go on as long as it did not see everything", async () => {
    const second = { ...slot, sessionId: "second" };
    await log.append(second, [said("needle", "1"), said("hay"), said("needle", "2")]);
    await log.append(slot, [said("needle", "3"), said("needle", "4")]);
    for (const limit of [1, 2, 3, 4, 5]) {
      const ids: string[] = [];
      let found = await log.search({ ...query, limit });
      while (found.next !== undefined && ids.length < 10) {
        ids.push(...found.hits.map(({ record }) => record.id));
        found = await log.search({ ...query, limit, before: found.next });
      }
      ids.push(...found.hits.map(({ record }) => record.id));
      expect(ids, `in pages of ${limit}`).toEqual(["4", "3", "2", "1"]);
    }
  });

  test("begins again when the session to go on from is gone", async () => {
    await log.append({ ...slot, sessionId: "second" }, [said("needle", "1")]);
    await log.append(slot, [said("needle", "2"), said("needle", "3")]);
    const { next } = await log.search({ ...query, limit: 1 });
    await log.delete(slot);
    const { hits } = await log.search({ ...query, before: next });
    expect(hits.map(({ record }) => record.id)).toEqual(["1"]);
  });

  test("ignores marks", async () => {
    const mark = {
      ...said(""),
      kind: "mark" as const,
      message: undefined,
      mark: { name: "needle" },
    };
    await log.append(slot, [mark]);
    expect(await log.search(query)).toEqual({ hits: [] });
  });

  test("lets others run on the way and stops when its signal aborts", async () => {
    await log.append(
      slot,
      Array.from({ length: 2_000 }, () => said("hay")),
    );
    const controller = new AbortController();
    const reason = new Error("enough");
    const searching = log.search({ ...query, signal: controller.signal });
    setImmediate(() => controller.abort(reason));
    await expect(searching).rejects.toBe(reason);
  });
});

describe("a listing of sessions", () => {
  const user = { agentId: "agent", userId: "user" };
  const ids = async (query: { limit?: number; cursor?: string } = {}) =>
    (await log.sessions({ ...user, ...query })).sessions.map((each) => each.slot.sessionId);

  test("has the one written to last first, with the time of its last record", async () => {
    const at = (hour: number) => `2026-01-01T0${hour}:00:00.000Z`;
    await log.append(slot, [{ ...said("x"), at: at(1) }]);
    await log.append({ ...slot, sessionId: "second" }, [{ ...said("x"), at: at(2) }]);
    await log.append(slot, [{ ...said("x"), at: at(3) }]);
    expect((await log.sessions(user)).sessions).toEqual([
      { slot, lastAt: at(3) },
      { slot: { ...slot, sessionId: "second" }, lastAt: at(2) },
    ]);
  });

  test("shows none twice when one is written to between two pages", async () => {
    for (const sessionId of ["a", "b", "c", "d"])
      await log.append({ ...slot, sessionId }, [said("x")]);
    const first = await log.sessions({ ...user, limit: 2 });
    expect(first.sessions.map((each) => each.slot.sessionId)).toEqual(["d", "c"]);
    await log.append({ ...slot, sessionId: "c" }, [said("x")]);
    expect(await ids({ cursor: first.cursor as string })).toEqual(["b", "a"]);
    expect(await ids()).toEqual(["c", "d", "b", "a"]);
  });

  test("forgets a session with its log", async () => {
    await log.append(slot, [said("x")]);
    await log.delete(slot);
    expect(await log.sessions(user)).toEqual({ sessions: [] });
  });
});
