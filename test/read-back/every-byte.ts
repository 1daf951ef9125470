import { join } from "node:path";
import type { DistributedStore } from "@holdfast/core";
import { HarnessAgent } from "@holdfast/harness";
import { scaled } from "@holdfast/testing";
import fc from "fast-check";
import { expect } from "vitest";
import { type AgentMaker, playHistory, type Said } from "./play-history.js";
import { type History, histories } from "./random-history.js";
import { type ReadSession, readBack } from "./read-back.js";

const runs = scaled(20, 5_000);
/** Histories played side by side: most of the time is spent waiting for files and servers. */
const ABREAST = 4;

/** How long {@link giveBackEveryByte} may take. */
export const timeout: number = 300_000 + runs * 1_000;

/** Repeated `\u0000` is six bytes a character. */
const limits = { messageBytes: 16_000_000, stateBytes: 64_000_000 };

/**
 * Plays random histories on a store and fails unless the agent's own tools give back every byte, and nobody else's.
 *
 * @param directory - for the workspace
 */
export async function giveBackEveryByte(parts: DistributedStore, directory: string): Promise<void> {
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
  const playAndRead = async (history: History): Promise<void> => {
    const name = `run-${run++}`;
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
  };
  const some = fc.array(histories, { minLength: ABREAST, maxLength: ABREAST });
  const property = fc.asyncProperty(some, async (each) => {
    await Promise.all(each.map(playAndRead));
  });
  await fc.assert(property, { numRuns: runs / ABREAST });
  // The histories did what the test is about.
  for (const type of ["compaction_end", "tool_result_evicted", "interrupted"])
    expect(happened.get(type), type).toBeGreaterThan(runs / 10);
}

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
