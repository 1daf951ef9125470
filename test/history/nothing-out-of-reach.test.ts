import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DistributedStore, InMemorySignalBus, InProcessSessionGate } from "@holdfast/core";
import { HarnessAgent } from "@holdfast/harness";
import { JsonFileAgentStateStore, JsonlConversationLog } from "@holdfast/store-json";
import { RedisDistributedStore } from "@holdfast/store-redis";
import fc from "fast-check";
import { Redis } from "ioredis";
import { afterAll, describe, expect, inject, test } from "vitest";
import { type AgentMaker, playHistory, type Said } from "./play-history.js";
import { histories } from "./random-history.js";
import { type ReadSession, readBack } from "./read-back.js";

const runs = process.env["HOLDFAST_LONG"] === "1" ? 5_000 : 500;
const timeout = runs * 1_000;
/** Repeated `\u0000` is six bytes a character. */
const limits = { messageBytes: 16_000_000, stateBytes: 64_000_000 };

const directory = mkdtempSync(join(tmpdir(), "holdfast-history-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const kinds: Record<string, () => { parts: DistributedStore; close(): Promise<void> }> = {
  file: () => {
    const root = join(directory, "state");
    const stateStore = new JsonFileAgentStateStore({ root, durability: "os" });
    const parts: DistributedStore = {
      ...stateStore.companions(),
      stateStore,
      log: new JsonlConversationLog({ root: join(directory, "workspace"), durability: "os" }),
      // One process: what keeps several apart is tested elsewhere, and takes its time.
      gate: new InProcessSessionGate(),
      signals: new InMemorySignalBus(),
    };
    return { parts, close: () => stateStore.close() };
  },
  redis: () => {
    const client = new Redis(inject("redisUrl"));
    const parts = RedisDistributedStore.from(client, { keyPrefix: `${randomUUID()}:` });
    const close = async () => {
      await parts.stateStore.close();
      await client.quit();
    };
    return { parts, close };
  },
};

describe.each(Object.keys(kinds))("over the %s log", (kind) => {
  test("whatever happened to a context, the agent's own tools give back every byte, and nobody else's", {
    timeout,
  }, async () => {
    const { parts, close } = (kinds[kind] as (typeof kinds)[string])();
    const make: AgentMaker = (options) =>
      HarnessAgent.create({
        name: "assistant",
        workspace: join(directory, "workspace"),
        distributedStore: parts,
        limits,
        // The prompt does not matter here, and would be read from files at every step.
        workspaceOptions: { promptTokens: 0 },
        ...options,
      });
    let run = 0;
    const happened = new Map<string, number>();
    const property = fc.asyncProperty(histories, async (history) => {
      const name = `${kind}-${run++}`;
      const { sessions, events } = await playHistory(history, name, make);
      for (const { type } of events) happened.set(type, (happened.get(type) ?? 0) + 1);
      const users = [0, 1].map((user) => `${name}-${user}`);
      const reads = await Promise.all(users.map((userId) => readBack(userId, make)));
      for (const [index, userId] of users.entries()) {
        const read = reads[index] ?? [];
        expectAll(
          sessions.filter((said) => said.userId === userId),
          read,
        );
        expectNothingOf(
          sessions.filter((said) => said.userId !== userId),
          read,
        );
      }
    });
    await fc.assert(property, { numRuns: runs });
    // The histories did what the test is about.
    for (const type of ["compaction_end", "tool_result_evicted", "interrupted"])
      expect(happened.get(type), type).toBeGreaterThan(runs / 10);
    await close();
  });
});

function expectAll(said: readonly Said[], read: readonly ReadSession[]): void {
  expect(read.map(({ sessionId }) => sessionId).sort()).toEqual(
    said.map(({ sessionId }) => sessionId).sort(),
  );
  for (const { sessionId, texts, data } of said) {
    const session = read.find((each) => each.sessionId === sessionId);
    const missing = texts.filter(
      (text) => !session?.messages.some((message) => message.includes(text)),
    );
    expect(missing, `texts of ${sessionId}`).toEqual([]);
    const left = [...(session?.data ?? [])];
    for (const base64 of data) expect(left.splice(left.indexOf(base64), 1)).toEqual([base64]);
  }
}

/** Inputs of tool calls have numbers of their own: nobody else has the same. */
function expectNothingOf(others: readonly Said[], read: readonly ReadSession[]): void {
  const foreign = others.flatMap(({ texts }) => texts.filter((text) => text.startsWith('{"id":')));
  for (const { messages } of read)
    for (const text of foreign) expect(messages.some((each) => each.includes(text))).toBe(false);
}
