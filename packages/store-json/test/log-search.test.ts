import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import {
  assistantMessage,
  InMemoryConversationLog,
  type JsonValue,
  type Message,
  type Slot,
  toolResultMessage,
  userMessage,
} from "@holdfast/core";
import type { LogDraft, LogFinds, LogPosition } from "@holdfast/core/store-kit";
import { JsonlConversationLog, type StoreReport } from "@holdfast/store-json";
import { scaled } from "@holdfast/testing";
import { expect, test } from "vitest";
import { searchSessions } from "../src/log/search-sessions.js";
import { runLogProcess } from "./log-process.js";
import { logFile, loggedSlot, record, records } from "./log-records.js";
import { temporaryRoot } from "./temporary-root.js";

const { agentId, userId } = loggedSlot;

test("hits come from the most recently updated session first, and newest first within each", async () => {
  const root = temporaryRoot();
  const log = new JsonlConversationLog({ root });
  const sessions = ["old", "middle", "new"];
  for (const [age, sessionId] of sessions.entries()) {
    await log.append({ agentId, userId, sessionId }, records(`${sessionId}.`, 3, "Needle"));
    const file = join(dirname(logFile(root)), `${sessionId}.log.jsonl`);
    utimesSync(file, 1_000 + age, 1_000 + age);
  }
  const found = async (limit: number) => {
    const { hits } = await log.search({ agentId, userId, text: "needle", limit });
    for (const {
      slot,
      record: { id },
    } of hits)
      expect(id.startsWith(`${slot.sessionId}.`)).toBe(true);
    return hits.map((hit) => hit.record.id);
  };
  expect(await found(20)).toEqual(
    ["new", "middle", "old"].flatMap((session) =>
      [3, 2, 1].map((number) => `${session}.${number}`),
    ),
  );
  expect(await found(4)).toEqual(["new.3", "new.2", "new.1", "middle.3"]);
});

test("a user's search sees no other user's, no other agent's and no anonymous session", async () => {
  const log = new JsonlConversationLog({ root: temporaryRoot() });
  const slots: Slot[] = ["ann", "bob", "sessions", null].flatMap((user) =>
    ["coder", "writer"].flatMap((agent) =>
      ["1", "2"].map((sessionId) => ({ agentId: agent, userId: user, sessionId })),
    ),
  );
  for (const slot of slots) await log.append(slot, [record("1", "needle")]);
  for (const user of ["ann", "bob", "sessions", "nobody"]) {
    const { hits } = await log.search({
      agentId: "coder",
      userId: user,
      text: "needle",
      limit: 50,
    });
    const expected = slots.filter((slot) => slot.agentId === "coder" && slot.userId === user);
    expect(hits.map(({ slot }) => slot.sessionId).sort()).toEqual(
      expected.map(({ sessionId }) => sessionId),
    );
    expect(hits.every(({ slot }) => slot.userId === user)).toBe(true);
  }
});

test("it finds what the reference finds, in texts and for queries of every kind", async () => {
  const random = randomNumbers(20_261_116);
  const log = new JsonlConversationLog({ root: temporaryRoot(), durability: "os" });
  const reference = new InMemoryConversationLog();
  const texts: string[] = [];
  const drafts: LogDraft[] = Array.from({ length: scaled(200, 600) }, (_, index) => {
    const message = randomMessage(random, texts);
    return { ...record(`r${index}`), message };
  });
  await log.append(loggedSlot, drafts);
  await reference.append(loggedSlot, drafts);
  let found = 0;
  for (let round = 0; round < scaled(100, 600); round++) {
    const query = { ...loggedSlot, text: randomQuery(random, texts), limit: 1_000 };
    const [finds, expected] = await Promise.all([log.search(query), reference.search(query)]);
    const shown = ({ hits }: LogFinds) => hits.map(({ record: { id }, snippet }) => [id, snippet]);
    expect(shown(finds), JSON.stringify(query.text)).toEqual(shown(expected));
    found += finds.hits.length;
  }
  expect(found).toBeGreaterThan(500);
});

test.each([
  ["of single bytes", "Twelve bears. "],
  ["of more", "Zwölf Bären. "],
])(
  "text anywhere in a very long one %s is found, also where it is read in parts",
  async (_, line) => {
    const log = new JsonlConversationLog({ root: temporaryRoot(), durability: "os" });
    const filler = line.repeat(120_000);
    const places = [0, 100, 262_137, 262_140, 262_143, 262_144, 524_280, 1_500_000, filler.length];
    for (const place of places)
      await log.append(loggedSlot, [
        record(`${place}`, `${filler.slice(0, place)}NEEDLE-${place};${filler.slice(place)}`),
      ]);
    for (const place of places) {
      const { hits } = await log.search({ ...loggedSlot, text: `needle-${place};` });
      expect(hits.map((hit) => hit.record.id)).toEqual([`${place}`]);
      expect(hits[0]?.snippet).toContain(`NEEDLE-${place};`);
      expect(hits[0]?.snippet.length).toBeLessThan(200);
    }
  },
);

test("the bytes of files are not text: they are neither searched nor read", async () => {
  const root = temporaryRoot();
  const log = new JsonlConversationLog({ root });
  const data = Buffer.alloc(300_000, "needle").toString("base64");
  const message = userMessage([
    {
      type: "data",
      mediaType: "image/png",
      name: "haystack.png",
      source: { kind: "base64", data },
    },
  ]);
  await log.append(loggedSlot, [{ ...record("1"), message }]);
  rmSync(join(dirname(logFile(root)), "session.blobs"), { recursive: true });
  expect(await log.search({ ...loggedSlot, text: data.slice(0, 20) })).toEqual({ hits: [] });
  expect((await log.search({ ...loggedSlot, text: "HAYSTACK" })).hits).toHaveLength(1);
});

test("files that cannot be searched are passed over and reported, those beside them are searched", async () => {
  const root = temporaryRoot();
  const reports: StoreReport[] = [];
  const log = new JsonlConversationLog({ root, onReport: (report) => reports.push(report) });
  const directory = dirname(logFile(root));
  await log.append(loggedSlot, [
    record("1", "needle"),
    record("2", `needle ${"x".repeat(70_000)}`),
  ]);
  await log.append({ ...loggedSlot, userId: "other" }, [record("1", "needle")]);
  writeFileSync(join(directory, "broken.log.jsonl"), '{"format":"holdfast.log"}\nneedle\n');
  writeFileSync(join(directory, "empty.log.jsonl"), "");
  writeFileSync(join(directory, "notes.txt"), "needle");
  // The log of another user, copied here.
  const stranger = directory.replace(`${join("users", "user")}`, join("users", "other"));
  copyFileSync(join(stranger, "session.log.jsonl"), join(directory, "stolen.log.jsonl"));
  const blobs = join(directory, "session.blobs");
  for (const name of readdirSync(blobs)) writeFileSync(join(blobs, name), "another needle");
  appendFileSync(logFile(root), '\n{"v":1,"id":"torn needle\n');
  const { hits } = await log.search({ agentId, userId, text: "needle" });
  expect(hits.map(({ slot, record: { id } }) => [slot.sessionId, id])).toEqual([["session", "1"]]);
  expect(reports.map(({ kind }) => kind).sort()).toEqual([
    "entry_skipped",
    "entry_skipped",
    "entry_skipped",
    "torn_record",
  ]);
  expect(JSON.stringify(reports)).not.toContain("needle");
});

test("a long text is read only where its file may match", async () => {
  const root = temporaryRoot();
  const log = new JsonlConversationLog({ root });
  const filler = "filler ".repeat(10_000);
  await log.append(loggedSlot, [
    record("1", `${filler} needle`),
    record("2", `${filler} thread`),
    record("3", "needle"),
  ]);
  const found = async (text: string) =>
    (await log.search({ ...loggedSlot, text })).hits.map((hit) => hit.record.id);
  expect(await found("NEEDLE")).toEqual(["3", "1"]);
  expect(await found("thread")).toEqual(["2"]);
  // A text that is not the one that was stored is noticed when it is read, and only then.
  const blobs = join(dirname(logFile(root)), "session.blobs");
  const damaged = readdirSync(blobs).map((name) => join(blobs, name));
  for (const path of damaged)
    writeFileSync(path, readFileSync(path, "utf8").replace("filler", "Filler"));
  const reports: StoreReport[] = [];
  const other = new JsonlConversationLog({ root, onReport: (report) => reports.push(report) });
  await other.search({ ...loggedSlot, text: "absent" });
  expect(reports).toEqual([]);
  await other.search({ ...loggedSlot, text: "thread" });
  expect(reports.map(({ kind }) => kind)).toEqual(["entry_skipped"]);
});

test("a long argument of a tool is found as it is and as JSON", async () => {
  const log = new JsonlConversationLog({ root: temporaryRoot() });
  const reference = new InMemoryConversationLog();
  const content = `${"x".repeat(70_000)}foo\nbar\u001fqux`;
  const call = { type: "tool_call", id: "c", name: "write", input: { content } } as const;
  const draft = { ...record("1"), message: assistantMessage([call]) };
  for (const each of [log, reference]) await each.append(loggedSlot, [draft]);
  const texts = [
    "foo\nbar",
    "foo\\nbar",
    "NBAR",
    "nbar",
    "\\u001fqux",
    "u001FQ",
    "1fqux",
    "u0",
    "fqux",
  ];
  for (const text of [...texts, "nfoo", "u002f", "bnbar"]) {
    const [finds, expected] = [log, reference].map((each) => each.search({ ...loggedSlot, text }));
    expect((await finds)?.hits, text).toHaveLength(texts.includes(text) ? 1 : 0);
    expect((await expected)?.hits, text).toHaveLength(texts.includes(text) ? 1 : 0);
  }
});

test("of lines with one id the first counts, on whichever page", async () => {
  const root = temporaryRoot();
  const log = new JsonlConversationLog({ root, durability: "os" });
  await log.append(loggedSlot, [record("a", "needle"), record("b", "needle"), record("c", "hay")]);
  // As two processes write it that append at once; the last one has another text, and does not count.
  const again = [record("a", "needle"), record("b", "needle"), record("c", "needle")];
  appendFileSync(logFile(root), again.map((each) => `\n${JSON.stringify(each)}\n`).join(""));
  for (const limit of [1, 2, 3]) {
    const ids: string[] = [];
    let before: LogPosition | undefined;
    do {
      const finds: LogFinds = await log.search({ ...loggedSlot, text: "needle", limit, before });
      ids.push(...finds.hits.map((hit) => hit.record.id));
      before = finds.next;
    } while (before !== undefined);
    expect(ids).toEqual(["b", "a"]);
  }
});

test("text of several bytes is found wherever reads of a log end", async () => {
  const root = temporaryRoot();
  const log = new JsonlConversationLog({ root, durability: "os" });
  const lines = Array.from({ length: 40 }, (_, index) =>
    record(`${index}`, `${"x".repeat(200 + index)}ÄÖÜ`),
  );
  await log.append(loggedSlot, lines);
  const expected = lines.map(({ id }) => id).reverse();
  for (let firstBytes = 1; firstBytes < 1_000; firstBytes += 7) {
    const query = { agentId, userId, text: "äöü", limit: 1_000 };
    const { hits } = await searchSessions(root, query, { report: () => undefined, firstBytes });
    expect(
      hits.map((hit) => hit.record.id),
      `${firstBytes}`,
    ).toEqual(expected);
  }
});

test("text of several bytes is found wherever reads of a blob end", async () => {
  const log = new JsonlConversationLog({ root: temporaryRoot(), durability: "os" });
  const filler = "x".repeat(1_048_576);
  const lines = [0, 1, 2, 3, 4, 5, 6, 7].map((back) =>
    record(`${back}`, `${filler.slice(back)}ÄÖÜ${filler}`),
  );
  await log.append(loggedSlot, lines);
  const { hits } = await log.search({ agentId, userId, text: "äöü", limit: 1_000 });
  expect(hits.map((hit) => hit.record.id)).toEqual(lines.map(({ id }) => id).reverse());
});

test("a search that is out of time goes on between two records, also of long texts", async () => {
  const root = temporaryRoot();
  const log = new JsonlConversationLog({ root, durability: "os" });
  const long = "x".repeat(70_000);
  await log.append(loggedSlot, [
    record("1", `${long}needle`),
    record("2", `${long}thread`),
    record("3", `needle`),
  ]);
  const pages: string[][] = [];
  let before: LogPosition | undefined;
  do {
    const query = { ...loggedSlot, text: "needle", before };
    const finds = await searchSessions(root, query, { report: () => undefined, maxMs: 0 });
    pages.push(finds.hits.map((hit) => hit.record.id));
    before = finds.next;
  } while (before !== undefined);
  expect(pages.slice(0, 3)).toEqual([["3"], [], ["1"]]);
  expect(pages.slice(3).flat()).toEqual([]);
});

test("a file that is deleted, or appended to, while it is searched does no harm", async () => {
  const root = temporaryRoot();
  const log = new JsonlConversationLog({ root, durability: "os" });
  await log.append(loggedSlot, [
    record("first", "Needle"),
    ...records("r", 400, "x".repeat(500)),
    record("last", "needle"),
  ]);
  const search = async () => {
    const { hits } = await log.search({ agentId, userId, text: "needle" });
    return hits.map((hit) => hit.record.id);
  };
  const appending = search();
  appendFileSync(logFile(root), `\n${JSON.stringify(record("late", "needle"))}\n`);
  // What came late may be found or not; what was there is.
  expect((await appending).filter((id) => id !== "late")).toEqual(["last", "first"]);
  expect(await search()).toEqual(["late", "last", "first"]);
  const deleting = search();
  rmSync(logFile(root));
  for (const id of await deleting) expect(["late", "last", "first"]).toContain(id);
  expect(await search()).toEqual([]);
});

test("a directory that cannot be read is an error, never an empty result", async () => {
  const root = temporaryRoot();
  mkdirSync(dirname(dirname(logFile(root))), { recursive: true });
  writeFileSync(dirname(logFile(root)), "a file where a directory belongs");
  const log = new JsonlConversationLog({ root });
  const search = log.search({ agentId, userId, text: "needle" });
  await expect(search).rejects.toMatchObject({ code: "UNAVAILABLE" });
});

test("a search lets others run, and stops when it is no longer wanted", async () => {
  const root = temporaryRoot();
  const log = new JsonlConversationLog({ root, durability: "os" });
  for (let batch = 0; batch < 10; batch++)
    await log.append(loggedSlot, records(`${batch}.`, 1_000, "x".repeat(1_500)));
  let turns = 0;
  let running = true;
  const count = () => {
    turns++;
    if (running) setImmediate(count);
  };
  setImmediate(count);
  // Every line is parsed: what is looked for is in none of them, but no part of it can be told from the bytes.
  expect(await log.search({ agentId, userId, text: '"' })).toEqual({ hits: [] });
  // 15 MB: a turn for every megabyte at the very least.
  expect(turns).toBeGreaterThan(15);
  const controller = new AbortController();
  const reason = new Error("enough");
  const search = log.search({ agentId, userId, text: '"', signal: controller.signal });
  setImmediate(() => controller.abort(reason));
  await expect(search).rejects.toBe(reason);
  running = false;
});

test("a search holds a part of the log in memory, not all of it", async () => {
  const root = temporaryRoot();
  const log = new JsonlConversationLog({ root, durability: "os" });
  const text = "x".repeat(60_000);
  await log.append(loggedSlot, [record("first", "needle")]);
  for (let batch = 0; batch < 16; batch++)
    await log.append(loggedSlot, records(`${batch}.`, 100, text));
  // 96 MB of log in a heap of 40 MB.
  const wrapper = ["env", "NODE_OPTIONS=--max-old-space-size=40"];
  const run = await runLogProcess({
    root,
    steps: [{ search: "needle" }, { search: '"' }],
    wrapper,
  });
  expect(run.lines).toEqual(["found first", "found "]);
});

const alphabet = [
  ...'aAbkKsSſKéÉßẞ "\\/\n\t\u0001.*[]{}:,019',
  "🙂",
  "\ud800",
  "\udc00",
  "\\n",
  "\\u0041",
];

function randomText(random: () => number, length: number): string {
  return Array.from({ length }, () => alphabet[Math.floor(random() * alphabet.length)]).join("");
}

function randomMessage(random: () => number, texts: string[]): Message {
  const text = (): string => {
    const made = randomText(random, 1 + Math.floor(random() * 40));
    texts.push(made);
    // Some are long enough to be kept apart; those with lone surrogates stay.
    return random() < 0.02 ? `${made.replace(/[\ud800\udc00]/gu, "")}${"z".repeat(70_000)}` : made;
  };
  const input: JsonValue = { [text().slice(0, 20)]: text(), list: [text(), 1.5, null] };
  if (random() < 0.5) return userMessage(text());
  if (random() < 0.5)
    return assistantMessage([
      { type: "text", text: text() },
      { type: "tool_call", id: "c", name: "write", input },
    ]);
  const output = [{ type: "text", text: text() } as const];
  return toolResultMessage({
    type: "tool_result",
    toolCallId: "c",
    name: "write",
    state: "success",
    output,
  });
}

function randomQuery(random: () => number, texts: readonly string[]): string {
  if (random() < 0.2) return randomText(random, 1 + Math.floor(random() * 3));
  const text = JSON.stringify(texts[Math.floor(random() * texts.length)] ?? "");
  const source = random() < 0.5 ? text : (JSON.parse(text) as string);
  const start = Math.floor(random() * source.length);
  const part = source.slice(start, start + 1 + Math.floor(random() * 6)) || "a";
  return random() < 0.5 ? part.toUpperCase() : part;
}

// mulberry32: the same texts in every run.
function randomNumbers(start: number): () => number {
  let seed = start;
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
