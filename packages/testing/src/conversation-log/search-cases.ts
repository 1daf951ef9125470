import assert from "node:assert/strict";
import {
  assistantMessage,
  type ConversationLog,
  type Slot,
  textOf,
  toolResultMessage,
} from "@holdfast/core";
import { type LogHit, type LogQuery, slotText } from "@holdfast/core/store-kit";
import { assertRejects, rejectionOf } from "../conformance/assert-rejects.js";
import { type ConformanceCase, caseFactory } from "../conformance/conformance-case.js";
import { messageRecord } from "../conformance/sample-records.js";
import { sampleSlot as slot } from "../conformance/sample-slots.js";
import type { ConversationLogOptions, LogCase } from "./log-case.js";

/** Searching text. */
export function searchCases(
  check: LogCase,
  { createLimited }: Pick<ConversationLogOptions, "createLimited">,
): ConformanceCase[] {
  const cases = [
    check("search finds literal text without regard to case, and shows it", async (log) => {
      await log.append(slot, [
        messageRecord("The Quick brown fox"),
        messageRecord("nothing of the kind"),
        messageRecord("zwölf BÄRen"),
      ]);
      assert.deepStrictEqual(await found(log, "qUICK Brown"), ["The Quick brown fox"]);
      assert.deepStrictEqual(await found(log, "ZWÖLF bären"), ["zwölf BÄRen"]);
      assert.deepStrictEqual(await found(log, "absent"), []);
    }),
    check("characters that patterns use are looked for as they are", async (log) => {
      const texts = ["a.*b", "[x]", "100%", "a_b", "$& $1", "back\\slash", "(open", "it's", "q?"];
      await log.append(
        slot,
        [...texts, "axxb", "x", "1000", "a-b", "plain"].map((text) => messageRecord(text)),
      );
      for (const text of texts) assert.deepStrictEqual(await found(log, text), [text]);
      for (const wild of ["a.b", "%%", "^", "\\d", "|", "x*"])
        assert.deepStrictEqual(await found(log, wild), []);
    }),
    check("text in tool calls, tool results and long texts is found", async (log) => {
      const long = `${"filler ".repeat(20_000)}needle-three`;
      await log.append(slot, [
        messageRecord(
          assistantMessage([
            { type: "tool_call", id: "c", name: "write", input: { content: "needle-one" } },
          ]),
        ),
        messageRecord(
          toolResultMessage({
            type: "tool_result",
            toolCallId: "c",
            name: "write",
            state: "success",
            output: [{ type: "text", text: "needle-two" }],
          }),
        ),
        messageRecord(long),
      ]);
      for (const text of ["needle-one", "needle-two", "needle-three"])
        assert.equal((await hitsOf(log, { text })).length, 1, `${text} is found once`);
      for (const text of ["needle", "NEEDLE"])
        assert.equal((await hitsOf(log, { text })).length, 3, `${text} is found in all of them`);
      for (const word of ["one", "two", "three"])
        assert.equal((await hitsOf(log, { text: word })).length, 1, `${word} is found once`);
    }),
    check("words beside what JSON escapes are found", async (log) => {
      const text = 'say "needle"\nneedle\tNeedle\\needle\u2028needle\u0001needle';
      const input = { script: text };
      await log.append(slot, [
        messageRecord(text),
        messageRecord(assistantMessage([{ type: "tool_call", id: "c", name: "run", input }])),
      ]);
      assert.equal((await hitsOf(log, { text: "needle" })).length, 2);
    }),
    check("a search sees the named agent's and user's sessions only", async (log) => {
      const slots: Slot[] = ["a", "%"].flatMap((agentId) =>
        ["u", "*", "_", null].flatMap((userId) =>
          ["1", "2"].map((sessionId) => ({ agentId, userId, sessionId })),
        ),
      );
      for (const each of slots) await log.append(each, [messageRecord(`needle ${slotText(each)}`)]);
      for (const query of slots) {
        const { agentId, userId, sessionId } = query;
        const inSession = await log.search({ agentId, userId, sessionId, text: "needle" });
        assert.deepStrictEqual(
          inSession.hits.map((hit) => hit.slot),
          [query],
        );
        if (userId === null) continue;
        const ofUser = await log.search({ agentId, userId, text: "needle" });
        assert.deepStrictEqual(
          ofUser.hits.map((hit) => slotText(hit.slot)).sort(),
          ["1", "2"].map((session) => slotText({ ...query, sessionId: session })).sort(),
        );
      }
    }),
    check("a search without a user must name a session", async (log) => {
      const search = () => log.search({ agentId: "agent", userId: null, text: "x" });
      await assertRejects(search, "InvalidInputError", "a search over all anonymous sessions");
    }),
    check("a search returns at most as many as asked for, 10 by default", async (log) => {
      await log.append(
        slot,
        Array.from({ length: 30 }, (_, index) => messageRecord(`needle ${index}`)),
      );
      assert.equal((await hitsOf(log, { text: "needle" })).length, 10);
      assert.equal((await hitsOf(log, { text: "needle", limit: 3 })).length, 3);
      assert.equal((await hitsOf(log, { text: "needle", limit: 100 })).length, 30);
    }),
    check("a search that did not see everything says where to go on", async (log) => {
      const texts: string[] = [];
      for (const sessionId of ["first", "second", "third"]) {
        const inSession = Array.from({ length: 7 }, (_, index) => `needle ${sessionId} ${index}`);
        const drafts = inSession.flatMap((text) => [messageRecord(text), messageRecord("hay")]);
        await log.append({ ...slot, sessionId }, drafts);
        texts.push(...inSession);
      }
      for (const limit of [1, 3, 7, 21, 22]) {
        const seen = await everything(log, { text: "needle", limit });
        assert.deepStrictEqual([...seen].sort(), [...texts].sort(), `in pages of ${limit}`);
      }
      const one = await everything(log, { text: "needle", limit: 2, sessionId: "second" });
      assert.deepStrictEqual([...one].sort(), texts.slice(7, 14).sort(), "in one session");
    }),
    check("a search continued from a session that was deleted misses nothing", async (log) => {
      const { agentId, userId } = slot;
      const sessions = ["first", "second", "third"];
      for (const sessionId of sessions)
        await log.append({ ...slot, sessionId }, [messageRecord(`needle ${sessionId}`)]);
      const query = { agentId, userId, text: "needle", limit: 1 };
      const { hits, next } = await log.search(query);
      const seen = hits[0]?.slot.sessionId;
      assert.equal(next?.sessionId, seen, "it goes on from the session it stopped in");
      await log.delete({ ...slot, sessionId: seen as string });
      const rest = await everything(log, { text: "needle", limit: 1, before: next });
      const left = sessions.filter((sessionId) => sessionId !== seen);
      assert.deepStrictEqual([...new Set(rest)].sort(), left.map((id) => `needle ${id}`).sort());
    }),
    check("in a session the newest records come first", async (log) => {
      await log.append(
        slot,
        ["one", "two", "three"].map((text) => messageRecord(`needle ${text}`)),
      );
      assert.deepStrictEqual(await found(log, "needle"), [
        "needle three",
        "needle two",
        "needle one",
      ]);
    }),
    check("an aborted search ends", async (log) => {
      await log.append(slot, [messageRecord("needle")]);
      const signal = AbortSignal.abort(new Error("enough"));
      await rejectionOf(() => hitsOf(log, { text: "needle", signal }), "an aborted search rejects");
    }),
  ];
  if (createLimited === undefined) return cases;
  const checkLimited = caseFactory<ConversationLog>({ create: createLimited });
  return [
    ...cases,
    checkLimited("a search out of time says where to go on, and goes on", async (log) => {
      const texts = Array.from({ length: 30 }, (_, index) => `needle ${index}`);
      for (const sessionId of ["first", "second"])
        await log.append(
          { ...slot, sessionId },
          texts.map((text) => messageRecord(`${text} ${sessionId}`)),
        );
      const { agentId, userId } = slot;
      const { hits, next } = await log.search({ agentId, userId, text: "needle", limit: 100 });
      assert.ok(hits.length < 60, "a search without time does not see everything");
      assert.ok(next, "it says where to go on");
      const all = await everything(log, { text: "needle", limit: 100 });
      assert.equal(new Set(all).size, 60, "continued to its end it has seen everything");
    }),
  ];
}

async function hitsOf(
  log: ConversationLog,
  query: Omit<LogQuery, "agentId" | "userId">,
): Promise<readonly LogHit[]> {
  const { hits } = await log.search({ agentId: slot.agentId, userId: slot.userId, ...query });
  for (const { slot: where, record, snippet } of hits) {
    assert.deepStrictEqual(where, slot);
    assert.ok(Number.isSafeInteger(record.seq), "the record has its seq, to read around it");
    assert.ok(
      snippet.toLowerCase().includes(query.text.toLowerCase()),
      "the snippet shows the match",
    );
    assert.ok(snippet.length < 2_000, "a snippet, not the whole text");
  }
  return hits;
}

async function found(log: ConversationLog, text: string): Promise<string[]> {
  const hits = await hitsOf(log, { text });
  return hits.map(({ record }) => (record.message === undefined ? "" : textOf(record.message)));
}

/** The texts of all hits, page by page as `next` says. */
async function everything(
  log: ConversationLog,
  query: Omit<LogQuery, "agentId" | "userId"> & { readonly limit: number },
): Promise<string[]> {
  const texts: string[] = [];
  let { before } = query;
  do {
    const { agentId, userId } = slot;
    const { hits, next } = await log.search({ agentId, userId, ...query, before });
    assert.ok(hits.length <= query.limit, "no more than asked for");
    if (hits.length === query.limit) assert.ok(next, "there may be more behind a full page");
    texts.push(...hits.map(({ record }) => (record.message ? textOf(record.message) : "")));
    assert.ok(texts.length <= 1_000, "the search comes to an end");
    before = next;
  } while (before !== undefined);
  return texts;
}
