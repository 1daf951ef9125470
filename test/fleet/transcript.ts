import { AgentState, type DistributedStore, type Slot, textOf } from "@holdfast/core";
import { loadWhole } from "@holdfast/core/store-kit";
import { expect } from "vitest";

/** The texts of a session's context, and of the messages in its log. */
export async function transcript(
  store: DistributedStore,
  slot: Slot,
): Promise<{ context: string[]; log: string[] }> {
  const loaded = await loadWhole(store.stateStore, slot);
  const context = loaded === null ? [] : AgentState.fromParts(loaded).context.map(textOf);
  const log: string[] = [];
  for (let after = 0; ; ) {
    const records = await store.log.read(slot, { after, limit: 1_000 });
    for (const { message } of records) if (message !== undefined) log.push(textOf(message));
    const last = records.at(-1);
    if (last === undefined) return { context, log };
    after = last.seq;
  }
}

/** Every question is followed by its own answer. */
export function expectAdjacent(texts: readonly string[]): void {
  expect(texts.length % 2).toBe(0);
  for (let index = 0; index < texts.length; index += 2)
    expect(texts[index + 1]).toBe(`re: ${texts[index]}`);
}
