import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compaction, gptTokenizerCounter } from "@holdfast/compaction";
import {
  type AgentEvent,
  ContextOverflowError,
  type ConversationLog,
  InMemoryAgentStateStore,
  InMemoryConversationLog,
  type Message,
  type Plugin,
} from "@holdfast/core";
import { JsonlConversationLog } from "@holdfast/store-json";
import { RedisDistributedStore } from "@holdfast/store-redis";
import { scaled } from "@holdfast/testing";
import { Redis } from "ioredis";
import { expect, inject, test } from "vitest";
import { fixedTokens } from "../../bench/src/replay/airline-desk.js";
import { readConversations } from "../../bench/src/replay/conversation.js";
import { playHoldfast } from "../../bench/src/replay/play-holdfast.js";
import { ReplayProvider } from "../../bench/src/replay/replay-provider.js";
import { scriptOf } from "../../bench/src/replay/script.js";
import { copySession, lookUp, randomQuotes } from "./quotes.js";

const window = 32_000;
const script = scriptOf(readConversations());

interface Played {
  readonly provider: ReplayProvider;
  readonly events: readonly AgentEvent[];
  readonly stateStore: InMemoryAgentStateStore;
  readonly log: InMemoryConversationLog;
  readonly context: readonly Message[];
}

async function play(plugins: readonly Plugin[]): Promise<Played> {
  const comparableFixedTokens = fixedTokens(script);
  const provider = new ReplayProvider({ script, window, comparableFixedTokens });
  const events: AgentEvent[] = [];
  const stateStore = new InMemoryAgentStateStore();
  const log = new InMemoryConversationLog();
  const tokenCounter = gptTokenizerCounter();
  const onEvent = (event: AgentEvent) => void events.push(event);
  const parts = { script, provider, plugins, tokenCounter, stateStore, log, onEvent };
  return { provider, events, stateStore, log, context: await playHoldfast(parts) };
}

function count(events: readonly AgentEvent[], type: AgentEvent["type"]): number {
  return events.filter((event) => event.type === type).length;
}

function report(title: string, { provider }: Played): void {
  const reasoning = provider.ledger.totals("reasoning");
  const summaries = provider.ledger.totals("summary");
  console.log(
    `${title}: ${script.messages} messages, ${reasoning.requests} requests of at most ${provider.ledger.longest("reasoning")} tokens, ` +
      `${provider.refused} refused, ${summaries.requests} summaries, ${reasoning.input + summaries.input} tokens sent`,
  );
}

/** The words that were said in the session, as the log has them. */
async function logged(log: InMemoryConversationLog): Promise<string[]> {
  const slot = { agentId: "airline", userId: null, sessionId: "replay" };
  const words: string[] = [];
  for (let after = 0; ; ) {
    const records = await log.read(slot, { after, limit: 1_000 });
    if (records.length === 0) return words;
    after = records.at(-1)?.seq ?? after;
    for (const { message } of records) if (message) words.push(...message.content.map(wordsOf));
  }
}

function wordsOf(block: Message["content"][number]): string {
  switch (block.type) {
    case "tool_call":
      return JSON.stringify(block.input);
    case "tool_result":
      return block.output.map(wordsOf).join("");
    case "data":
      return block.mediaType;
    default:
      return block.text;
  }
}

const said = script.turns.flatMap(({ users, replies }) => [
  ...users,
  ...replies.flatMap(({ text, calls }) => [
    ...(text === "" ? [] : [text]),
    ...calls.map(({ input }) => JSON.stringify(input)),
    ...calls.map(({ result }) => result),
  ]),
]);

/** Everything that was said, in order and once. */
async function expectWholeLog({ log }: Played): Promise<void> {
  const words = await logged(log);
  expect(words.findIndex((text, index) => text !== said[index])).toBe(-1);
  expect(words).toHaveLength(said.length);
}

/** How many quotes are looked up. */
const quoted = scaled(15, 200);
const triggerTokens = 24_000;
/** Played once, for all tests that look at it. */
let compacted: Promise<Played> | undefined;
function playCompacted(): Promise<Played> {
  compacted ??= play([compaction({ triggerTokens, keepTokens: 6_400 })]);
  return compacted;
}

test("100 real conversations in one session: every request is valid and under the trigger", async () => {
  const played = await playCompacted();
  const { provider, events, context } = played;
  report("with compaction", played);
  expect(provider.isFinished).toBe(true);
  expect(provider.problems).toEqual([]);
  expect(provider.refused).toBe(0);
  expect(provider.ledger.longest("reasoning")).toBeLessThan(triggerTokens);
  expect(provider.ledger.totals("summary").requests).toBe(count(events, "compaction_end"));
  expect(count(events, "compaction_end")).toBeGreaterThan(5);
  expect(count(events, "compaction_failed")).toBe(0);
  expect(count(events, "repaired")).toBe(0);
  expect(context.length).toBeLessThan(script.messages / 4);
  await expectWholeLog(played);
});

const logs: Record<string, () => { log: ConversationLog; close(): Promise<unknown> }> = {
  file: () => {
    const root = mkdtempSync(join(tmpdir(), "holdfast-quotes-"));
    const log = new JsonlConversationLog({ root, durability: "os" });
    return { log, close: async () => rmSync(root, { recursive: true, force: true }) };
  },
  redis: () => {
    const client = new Redis(inject("redisUrl"));
    const { stateStore, log } = RedisDistributedStore.from(client, {
      keyPrefix: `${randomUUID()}:`,
    });
    return { log, close: () => stateStore.close().then(() => client.quit()) };
  },
};

test.each(scaled(["redis"], Object.keys(logs)))(
  `${quoted} random quotes of it are found with session_search, over the %s log`,
  async (kind) => {
    const { context, ...played } = await playCompacted();
    const { log, close } = (logs[kind] as (typeof logs)[string])();
    const session = await copySession(played, log);
    const quotes = randomQuotes(said, 200);
    const lastWords = said.at(-3)?.slice(0, 80) ?? "";
    const shown = context.map((message) => message.content.map(wordsOf).join("\n")).join("\n");
    const gone = quotes.filter((quote) => !shown.includes(quote));
    expect(gone.length, "quotes that have left the context").toBeGreaterThan(100);
    expect(await lookUp(session, [lastWords, ...quotes.slice(0, quoted)])).toEqual([]);
    await close();
  },
);

test("the same with no trigger overflows and is recovered each time", async () => {
  const played = await play([compaction({ triggerTokens: 1_000_000 })]);
  const { provider, events } = played;
  report("by overflow alone", played);
  expect(provider.isFinished).toBe(true);
  expect(provider.problems).toEqual([]);
  expect(provider.refused).toBeGreaterThan(3);
  const recoveries = events.filter((event) => event.type === "overflow_recovery");
  expect(recoveries.map(({ recovered }) => recovered)).toEqual(
    Array.from({ length: provider.refused }, () => true),
  );
  expect(count(events, "repaired")).toBe(0);
  await expectWholeLog(played);
});

test("the same without a compactor ends with the first request that is too long", async () => {
  const provider = new ReplayProvider({
    script,
    window,
    comparableFixedTokens: fixedTokens(script),
  });
  await expect(playHoldfast({ script, provider, plugins: [] })).rejects.toSatisfy(
    ContextOverflowError.is,
  );
  expect(provider.refused).toBe(1);
});
