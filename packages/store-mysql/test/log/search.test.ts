import { InMemoryConversationLog, textOf, toolResultMessage } from "@holdfast/core";
import type { LogFinds } from "@holdfast/core/store-kit";
import { MysqlConversationLog } from "@holdfast/store-mysql";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { likePattern } from "../../src/log/like-pattern.js";
import { dropTables, freshPrefix, proxiedPool, rowsOf, testPool } from "./fresh-tables.js";
import { idsOf, loggedSlot as slot, textRecord } from "./log-records.js";

const { agentId, userId } = slot;
const pool = testPool();
let prefix: string;
let log: MysqlConversationLog;

beforeEach(() => {
  prefix = freshPrefix();
  log = new MysqlConversationLog({ pool, tablePrefix: prefix });
});
afterEach(() => dropTables(pool, prefix));

/** Characters that JSON, LIKE, collations and case treat in ways of their own. */
const awkward = [
  ..."aAkKsS\u212a\u017fiI\u0130\u0131ßẞéÉ%_|\\\"'\n\t\u0000 漢字🌤🌥ǅǆςΣ\u0301",
  "\ud800",
];
const textOfAwkward = fc
  .array(fc.constantFrom(...awkward), { maxLength: 8 })
  .map((parts) => parts.join(""));

test("what the server leaves out never holds a hit: any text is found as in the log in memory", async () => {
  const long = process.env["HOLDFAST_LONG"] === "1";
  let round = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(textOfAwkward, { minLength: 1, maxLength: 30 }),
      fc.array(
        textOfAwkward.filter((text) => text !== ""),
        { minLength: 1, maxLength: 12 },
      ),
      fc.infiniteStream(fc.nat()),
      async (texts, queries, numbers) => {
        const place = { ...slot, sessionId: `s${round++}` };
        const memory = new InMemoryConversationLog();
        const records = texts.map((text, index) => textRecord(`r${index}`, `${text}…`));
        for (const each of [memory, log]) await each.append(place, records);
        // Parts of the texts, in another case: random queries alone would find little.
        const parts = texts.map((text) => {
          const [from = 0, length = 0] = [...numbers.take(2)];
          const start = from % (text.length + 1);
          const part = `${text}…`.slice(start, start + 1 + (length % 6));
          return length % 2 === 0 ? part.toUpperCase() : part.toLowerCase();
        });
        for (const text of [...queries, ...parts]) {
          const query = { ...place, text, limit: 100 };
          expect(found(await log.search(query))).toEqual(found(await memory.search(query)));
        }
      },
    ),
    { numRuns: long ? 500 : 40 },
  );
});

test("the server reads the pattern as we do: what it must not lose, it finds", async () => {
  await log.append(slot, [textRecord("r", "K\u212a sS\u017f É 🌤 100%_| 漢字")]);
  const [[body] = []] = await rowsOf(pool, `SELECT body FROM ${prefix}log`);
  for (const query of ["kk S", "\u212ak s", "é 🌥 100%_|", "漢字", "ss\u017f é"]) {
    const [[matches] = []] = await rowsOf(
      pool,
      "SELECT CONVERT(? USING utf8mb4) LIKE CONVERT(? USING utf8mb4) COLLATE utf8mb4_general_ci ESCAPE '|'",
      [body as Buffer, Buffer.from(likePattern(query) ?? "%")],
    );
    expect(matches, query).toBe(1);
  }
});

test("hits come newest first: of the session written to last, then of the others", async () => {
  const [old, recent] = ["old", "recent"].map((sessionId) => ({ ...slot, sessionId }));
  await log.append(recent ?? slot, [textRecord("3", "needle")]);
  await log.append(old ?? slot, [textRecord("1", "needle"), textRecord("2", "needle")]);
  await pool.query(`UPDATE ${prefix}slots SET listed_at = listed_at - INTERVAL 1 HOUR`);
  await log.append(recent ?? slot, [textRecord("4", "needle")]);
  const { hits } = await log.search({ agentId, userId, text: "needle" });
  expect(hits.map(({ record }) => record.id)).toEqual(["4", "3", "2", "1"]);
});

test("a search goes on over thousands of records and many sessions to the oldest", async () => {
  const first = textRecord("first", "the needle");
  const many = Array.from({ length: 1_500 }, (_, index) => textRecord(`r${index}`, "hay"));
  await log.append(slot, [first, ...many]);
  for (let session = 0; session < 40; session++)
    await log.append({ ...slot, sessionId: `${session}` }, [
      textRecord("a", session % 10 === 0 ? "a needle too" : "hay"),
      ...many.slice(0, session),
    ]);
  const { hits } = await log.search({ agentId, userId, text: "needle" });
  expect(hits.map((hit) => hit.slot.sessionId).sort()).toEqual(["0", "10", "20", "30", "session"]);
  expect(await log.search({ agentId, userId, text: "absent" })).toEqual({ hits: [] });
});

test("text that no pattern narrows down is found as well", async () => {
  const texts = ["É", "🌤", "ks", '"', "\\", "\n"];
  await log.append(
    slot,
    texts.map((text) => textRecord(text, `<${text}>`)),
  );
  for (const text of texts) {
    expect(likePattern(text)).toBeNull();
    const { hits } = await log.search({ ...slot, text });
    expect(idsOf(hits.map(({ record }) => record))).toEqual([text]);
  }
});

test("long texts are searched, the bytes of images are neither searched nor read", async () => {
  await using network = await proxiedPool();
  const far = new MysqlConversationLog({ pool: network.pool, tablePrefix: prefix });
  const data = "needle".repeat(200_000);
  const image = {
    type: "data" as const,
    mediaType: "image/png",
    source: { kind: "base64" as const, data },
  };
  const message = toolResultMessage({
    type: "tool_result",
    toolCallId: "c",
    name: "look",
    state: "success",
    output: [image],
  });
  await far.append(slot, [
    textRecord("image", "", { message }),
    textRecord("long", `${"hay ".repeat(100_000)}needle`),
  ]);
  const before = network.proxy.bytesDown;
  const { hits } = await far.search({ ...slot, text: "needle" });
  expect(hits.map(({ record, snippet }) => [record.id, snippet.endsWith("needle")])).toEqual([
    ["long", true],
  ]);
  expect(network.proxy.bytesDown - before).toBeLessThan(600_000);
});

test("what is damaged is passed over, and the rest is found", async () => {
  await log.append(slot, [
    textRecord("1", "needle one"),
    textRecord("2", "needle two"),
    textRecord("3", `${"needle ".repeat(20_000)}`),
    textRecord("4", "needle four"),
  ]);
  await pool.query(`UPDATE ${prefix}log SET body = 'needle, but no JSON' WHERE record_seq = 2`);
  await pool.query(`DELETE FROM ${prefix}blobs`);
  const { hits } = await log.search({ ...slot, text: "needle" });
  expect(hits.map(({ record }) => record.id)).toEqual(["4", "1"]);
});

test("a search ends between two batches when its signal says so", async () => {
  const records = Array.from({ length: 600 }, (_, index) => textRecord(`r${index}`, "hay"));
  await log.append(slot, records);
  const controller = new AbortController();
  const search = log.search({ ...slot, text: "absent", signal: controller.signal });
  controller.abort(new Error("enough"));
  await expect(search).rejects.toThrow("enough");
});

function found({ hits }: LogFinds): [string, string, string][] {
  return hits.map(({ record, snippet }) => [
    record.id,
    record.message === undefined ? "" : textOf(record.message),
    snippet,
  ]);
}
