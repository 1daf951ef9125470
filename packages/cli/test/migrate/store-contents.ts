import type { DistributedStore, LogRecord, Slot } from "@holdfast/core";
import { loadWhole, slotText, withBlobs } from "@holdfast/core/store-kit";
import type { SampleSession } from "./sample-sessions.js";

/** Everything a store has of a session, as text to the byte: revision, facts, head, messages, and the log with its long texts. */
export async function contentsOf(
  { stateStore, log }: DistributedStore,
  slot: Slot,
): Promise<readonly string[]> {
  const state = await loadWhole(stateStore, slot);
  const texts = state === null ? ["no state"] : stateTexts(state);
  for (const record of await log.read(slot, { after: 0, limit: 100_000 }))
    texts.push(
      JSON.stringify({
        ...(await withBlobs(log, slot, record)),
        seq: undefined,
        from: refs(record),
      }),
    );
  return texts;
}

/** {@link contentsOf} of many sessions, by slot. */
export async function contentsOfAll(
  parts: DistributedStore,
  sessions: readonly SampleSession[],
): Promise<Map<string, readonly string[]>> {
  const contents = new Map<string, readonly string[]>();
  const queue = sessions.values();
  const worker = async (): Promise<void> => {
    for (const { slot } of queue) contents.set(slotText(slot), await contentsOf(parts, slot));
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  return contents;
}

/** Every slot a store lists. */
export async function listed({ stateStore }: DistributedStore): Promise<string[]> {
  const slots: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await stateStore.list({ limit: 500, cursor });
    slots.push(...page.slots.map(({ slot }) => slotText(slot)));
    cursor = page.cursor;
  } while (cursor !== undefined);
  return slots.sort();
}

function stateTexts(state: {
  readonly revision: string;
  readonly head: unknown;
  readonly messages: readonly unknown[];
  readonly info?: unknown;
}): string[] {
  const parts = [state.info ?? "no facts", state.head, ...state.messages];
  return [state.revision, ...parts.map((part) => JSON.stringify(part))];
}

function refs({ blobs = [] }: LogRecord): string[] {
  return blobs.map(({ ref, bytes, path }) => `${ref} ${bytes} ${path.join("/")}`);
}
