import {
  assistantMessage,
  characterEstimate,
  InMemoryConversationLog,
  type Slot,
  userMessage,
} from "@holdfast/core";
import type { LogFinds, LogQuery } from "@holdfast/core/store-kit";
import { expect, test } from "vitest";
import { ada, bench } from "./bench.js";

const two: Slot = { ...ada, sessionId: "two" };
const asking: Slot = { ...ada, sessionId: "asking" };

const chat = [
  "Where did you go last summer?",
  "To Oslo, by train.",
  "Did you like it?",
  "Very much, the harbour most of all.",
  "My sister is a dentist.",
  "Mine breeds horses.",
];

async function chatted() {
  const tools = bench();
  for (const text of chat) await tools.say(text);
  for (let n = 0; n < 20; n++) await tools.say(`Something else, number ${n}.`, two);
  return tools;
}

test("a question finds the answer beside what it asks for, each hit with the messages around it", async () => {
  const tools = await chatted();
  const { text } = await tools.use(
    "search",
    { query: "Which place did she visit in summer?", maxResults: 1 },
    asking,
  );
  expect(text).toMatch(
    /^session "one", 2026-01-01 00:00\n> \[1\] user: Where did you go last »summer«\?\n> \[2\] user: To Oslo, by train\.\n\[\d of \d+ matches, best first, marked >\. Read on: session_history with around: a position and its sessionId;/,
  );
});

test("text in quotes is looked for as it is, and a regular expression may have quotes", async () => {
  const tools = await chatted();
  const { text } = await tools.use("search", { query: '"a dent"' }, asking);
  expect(text).toContain("My sister is »a dent«ist.");
  await tools.say('He said "no".');
  expect((await tools.use("search", { query: '"no"', regex: true }, asking)).text).toContain(
    '»"no"«',
  );
});

test("pages go on with the cursor until every match was shown", async () => {
  const tools = await chatted();
  const shown = new Set<string>();
  let input: object | null = { query: "something number", maxResults: 3 };
  for (let page = 0; input !== null; page++) {
    expect(page).toBeLessThan(20);
    const { text, isError } = await tools.use("search", input, asking);
    expect(isError, text).toBe(false);
    for (const [, n] of text.matchAll(/number« (\d+)/g)) shown.add(n ?? "");
    const [, cursor] = /More: the same with cursor: "(.*?)"/.exec(text) ?? [];
    input = cursor === undefined ? null : { ...input, cursor };
  }
  expect(shown.size).toBe(20);
  for (const cursor of ["5@one", "rank:", "rank:-1", ""])
    expect((await tools.use("search", { query: "x", cursor }, asking)).isError).toBe(true);
});

test("`around` shows what came before and after a hit", async () => {
  const tools = await chatted();
  const { text } = await tools.use("history", { around: 3, lastN: 4, sessionId: "one" }, asking);
  const positions = [...text.matchAll(/^\[(\d+)\] /gm)].map(([, seq]) => Number(seq));
  expect(positions).toEqual([1, 2, 3, 4]);
  expect(text).toContain("This is the beginning of the conversation.");
  expect(text).toContain('Later ones: session_history with after: 4, sessionId: "one"');
});

test("nothing found says what was looked for, where, and how far back", async () => {
  const tools = await chatted();
  const { text } = await tools.use("search", { query: "xylophone zeppelins" }, asking);
  expect(text).toBe(
    '[Nothing found in 26 messages of 2 sessions, back to 2026-01-01 00:00. Of your words, nobody said "xylophone", nobody said "zeppelins". Try other words for it, or exact: true for a part of a word.]',
  );
  const typo = await tools.use("search", { query: "dentsit" }, asking);
  expect(typo.text).toContain('Nobody said "dentsit"; "dentist" was taken for it.');
});

test("discarded calls are left out unless asked for", async () => {
  const tools = bench();
  await tools.say("the zebra of a conflict", ada, "lost");
  await tools.end("conflict", ada, "lost");
  await tools.say("the zebra that stayed", ada, "kept");
  await tools.end("committed", ada, "kept");
  const { text } = await tools.use("search", { query: "zebra" }, asking);
  expect(text).not.toContain("of a conflict");
  const all = await tools.use("search", { query: "zebra", includeDiscarded: true }, asking);
  expect(all.text).toContain("user (discarded: conflict): the »zebra« of a conflict");
});

test("what is said after a search is found by the next one, and a session begun anew is read anew", async () => {
  const tools = bench();
  await tools.say("the first zebra");
  await tools.end();
  expect((await tools.use("search", { query: "zebra" }, asking)).text).toContain(
    "the first »zebra«",
  );
  await tools.say("the second zebra");
  expect((await tools.use("search", { query: "zebra" }, asking)).text).toContain(
    "the second »zebra«",
  );
  await tools.log.delete(ada);
  expect((await tools.use("search", { query: "zebra" }, asking)).text).toContain("[Nothing found");
  expect(tools.conversations.bytes).toBe(0);
});

test("a session that was deleted and has as many records again is not taken for the old one", async () => {
  // Positions of this log begin anew, as those of files do.
  const log = new InMemoryConversationLog();
  const tools = bench({ log });
  const restart = async (word: string): Promise<void> => {
    await log.delete(ada);
    const records = ["a", "b"].map((id) => ({
      ...{ v: 1 as const, id: `${word}${id}`, callId: "c", at: "2026-01-01T00:00:00.000Z" },
      ...{ kind: "message" as const, message: userMessage(`${word} ${id}`) },
    }));
    await log.append(ada, records);
  };
  await restart("zebra");
  await tools.use("search", { query: "zebra" }, asking);
  await restart("heron");
  expect((await tools.use("search", { query: "heron" }, asking)).text).toContain("»heron« a");
  expect((await tools.use("search", { query: "zebra" }, asking)).text).toContain("Nothing found");
});

test("what does not fit into the index is searched word by word, and the answer says so", async () => {
  const tools = bench({ maxIndexBytes: 40_000 });
  await tools.say("the old zebra", { ...ada, sessionId: "old" });
  for (let n = 0; n < 600; n++) await tools.say(`word${n} and more${n} of it${n} anyway`, two);
  const { text } = await tools.use("search", { query: "Which zebra was it?" }, asking);
  expect(text).toContain("the old zebra");
  expect(text).toMatch(/Looked at \d+ messages of 1 session, back to .*Of what is older, only/);
  expect(tools.conversations.bytes).toBeLessThan(80_000);
});

test("a search of what does not fit that ends before its end says so", async () => {
  class ShortOfTime extends InMemoryConversationLog {
    override async search(query: LogQuery): Promise<LogFinds> {
      const { hits } = await super.search({ ...query, limit: 1 });
      return { hits, next: { sessionId: "old", seq: 1 } };
    }
  }
  const tools = bench({ log: new ShortOfTime(), maxIndexBytes: 40_000 });
  await tools.say("the old zebra", { ...ada, sessionId: "old" });
  for (let n = 0; n < 600; n++) await tools.say(`word${n} and more${n} of it${n} anyway`, two);
  const { text } = await tools.use("search", { query: "Which zebra was it?" }, asking);
  expect(text).toContain("the old zebra");
  expect(text).toContain("as it is written, and not as far back as it goes; exact: true goes on");
});

test("indexes of many users stay within the room for all of them", async () => {
  const tools = bench({ maxIndexBytes: 100_000 });
  for (let user = 0; user < 8; user++) {
    const slot = { ...ada, userId: `user${user}` };
    for (let n = 0; n < 100; n++) await tools.say(`word${n} of zebra${user} here${n}`, slot);
    const { text } = await tools.use(
      "search",
      { query: "zebra" },
      { ...slot, sessionId: "asking" },
    );
    expect(text).toContain(`»zebra${user}«`);
    expect(text).not.toContain(`zebra${user + 1}`);
    expect(tools.conversations.bytes).toBeLessThanOrEqual(100_000);
  }
});

test("ten hits with their neighbours take no more than a page of tokens, whatever was said", async () => {
  const estimate = characterEstimate();
  for (const said of ["The zebra said so. ", "斑马说 zebra。", '{"zebra":[1,22,333],"é":"ü"} ']) {
    const tools = bench();
    for (let n = 0; n < 60; n++)
      await tools.say(n % 4 === 0 ? said.repeat(30) : assistantMessage(`Hm, ${n}. `.repeat(40)));
    const { text } = await tools.use("search", { query: "zebra" }, asking);
    expect([...text.matchAll(/^> /gm)].length).toBeGreaterThanOrEqual(10);
    expect(estimate.countMessages([userMessage(text)])).toBeLessThan(1_600);
    expect(text.length).toBeLessThan(5_500);
  }
});

test("an embedding model finds what no word does, is asked once for each message, and may fail", async () => {
  const asked: string[] = [];
  let isBroken = false;
  const embed = async (texts: readonly string[]): Promise<number[][]> => {
    if (isBroken) throw new Error("no model");
    asked.push(...texts);
    return texts.map((text) => (/harbour|boats/.test(text) ? [1, 0] : [0, 1]));
  };
  const tools = bench({ embed });
  for (const text of chat) await tools.say(text);
  const first = await tools.use("search", { query: "boats" }, asking);
  expect(first.text).toMatch(/^> \[4\] user: Very much, the harbour/m);
  expect(asked).toEqual([...chat, "boats"]);
  isBroken = true;
  await tools.say("And the boats of the fishermen.");
  const second = await tools.use("search", { query: "boats" }, asking);
  expect(second.text).toContain("»boats« of the fishermen");
  expect(asked).toHaveLength(chat.length + 1);
});
