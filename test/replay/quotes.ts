import {
  type AgentStateStore,
  type ConversationLog,
  InMemoryAgentStateStore,
  type Message,
  ReActAgent,
  type ToolResultBlock,
} from "@holdfast/core";
import { loadWhole, withBlobs } from "@holdfast/core/store-kit";
import { sessionTools } from "@holdfast/session-tools";
import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import fc from "fast-check";

const slot = { agentId: "airline", userId: null, sessionId: "replay" };

/** The parts that hold a session. */
interface SessionParts {
  readonly stateStore: AgentStateStore;
  readonly log: ConversationLog;
}

/** Copies the replayed session: its log into another one, its state into a store in memory. */
export async function copySession(from: SessionParts, log: ConversationLog): Promise<SessionParts> {
  const stateStore = new InMemoryAgentStateStore();
  const state = await loadWhole(from.stateStore, slot);
  if (state === null) throw new Error("the replayed session has no state");
  const { revision, head, messages } = state;
  const write = { op: "copy", expected: null, revision, head, keep: 0, replace: [] };
  await stateStore.save(slot, { ...write, append: messages });
  await copyLog(from.log, log);
  return { stateStore, log };
}

async function copyLog(from: ConversationLog, to: ConversationLog): Promise<void> {
  for (let after = 0; ; ) {
    const page = await from.read(slot, { after, limit: 500 });
    if (page.length === 0) return;
    after = page.at(-1)?.seq ?? after;
    const whole = await Promise.all(page.map((record) => withBlobs(from, slot, record)));
    await to.append(
      slot,
      whole.map(({ seq: _, ...draft }) => draft),
    );
  }
}

/** Random stretches of 12 to 80 characters of random texts. */
export function randomQuotes(texts: readonly string[], count: number): string[] {
  const long = texts.filter((text) => text.trim().length >= 12);
  const quote = fc
    .record({
      text: fc.constantFrom(...long),
      start: fc.double({ min: 0, max: 1, noNaN: true }),
      chars: fc.integer({ min: 12, max: 80 }),
    })
    .map(({ text, start, chars }) => {
      const from = Math.floor(start * (text.length - 12));
      return text.slice(from, from + chars);
    })
    .filter((text) => text.trim().length >= 8);
  return fc.sample(quote, count);
}

/**
 * Looks quotes up as a model does: a search, then a look at the first place it names. Returns those that were not there.
 */
export async function lookUp(
  { stateStore, log }: SessionParts,
  quotes: readonly string[],
): Promise<string[]> {
  const missing: string[] = [];
  const places: { readonly quote: string; readonly at: number; readonly offset: number }[] = [];
  const batches = inBatches(quotes, 20);
  let searching: readonly string[] = [];
  let reading: readonly (typeof places)[number][] = [];
  const model = scriptedModel(({ messages }): ScriptedReply => {
    const results = resultsOf(messages.at(-1));
    for (const [index, quote] of searching.entries()) {
      const text = textOf(results[index]);
      const [, at, offset] = /session_history with at: (\d+), offset: (\d+)/.exec(text) ?? [];
      if (at === undefined || offset === undefined) missing.push(quote);
      else places.push({ quote, at: Number(at), offset: Number(offset) });
    }
    for (const [index, { quote }] of reading.entries())
      if (!textOf(results[index]).toLowerCase().includes(quote.toLowerCase())) missing.push(quote);
    [searching, reading] = [[], places.splice(0)];
    if (reading.length > 0)
      return {
        toolCalls: reading.map(({ at, offset }) => ({
          name: "session_history",
          input: { at, offset },
        })),
      };
    searching = batches.shift() ?? [];
    return searching.length === 0
      ? "done"
      : {
          toolCalls: searching.map((query) => ({
            name: "session_search",
            input: { query, exact: true },
          })),
        };
  });
  const agent = new ReActAgent({
    name: "airline",
    model,
    stateStore,
    log,
    plugins: [sessionTools()],
    maxIterations: 1_000,
    limits: { messageBytes: 4_000_000, stateBytes: 64_000_000 },
  });
  await agent.call("look it up", { sessionId: slot.sessionId });
  await agent.close();
  return missing;
}

function resultsOf(message: Message | undefined): ToolResultBlock[] {
  return (message?.content ?? []).filter((block) => block.type === "tool_result");
}

function textOf(result: ToolResultBlock | undefined): string {
  return (result?.output ?? []).map((part) => (part.type === "text" ? part.text : "")).join("\n");
}

function inBatches<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}
