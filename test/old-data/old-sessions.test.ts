import { createHash } from "node:crypto";
import {
  type JsonObject,
  type LogRecord,
  type Message,
  textOf,
  toolResultsOf,
} from "@holdfast/core";
import { loadWhole } from "@holdfast/core/store-kit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { answeredCalls, clerk, whose } from "./clerk.js";
import {
  kinds,
  marksIn,
  normal,
  oldAnsweredCalls,
  oldData,
  opensWithSave,
  parts,
} from "./old-release.js";
import { type OpenedStore, type RestoredData, restore } from "./restore-stores.js";

const places = kinds.flatMap((kind) => parts.map((part) => ({ kind, part })));

describe.each(places)("what 0.1.0 stored, $kind, $part", ({ kind, part }) => {
  const old = oldData(kind, part);
  const sessions = old.sessions.filter(({ slot }) => slot.agentId === "clerk");
  let data: RestoredData;
  let opened: OpenedStore;
  beforeAll(async () => {
    data = await restore(kind, part);
    opened = data.open();
  });
  afterAll(async () => {
    await opened.close();
    await data.cleanup();
  });

  test("states load with every message and the whole head", async () => {
    const { agent } = clerk(opened, []);
    expect(sessions.length).toBeGreaterThanOrEqual(part === "plain" ? 18 : 3);
    for (const { slot, head, messages } of sessions) {
      const state = await agent.getAgentState(slot.userId, slot.sessionId);
      expect(normal(state)).toMatchObject({ ...migrated(head), context: normal(messages) });
      expect(answeredCalls(state?.context ?? [])).toEqual(oldAnsweredCalls(messages));
      const loaded = await loadWhole(opened.store.stateStore, slot);
      expect(normal(loaded)).toMatchObject({ head, messages: normal(messages) });
    }
    await agent.close();
  });

  test("sessions are listed, per user too", async () => {
    const { stateStore, log } = opened.store;
    const { slots } = await stateStore.list({ agentId: "clerk" });
    const text = (list: readonly { readonly slot: unknown }[]) =>
      list.map(({ slot }) => JSON.stringify(slot)).sort();
    expect(text(slots)).toEqual(text(sessions));
    for (const userId of new Set(sessions.map(({ slot }) => slot.userId))) {
      const own = sessions.filter(({ slot }) => slot.userId === userId);
      const listed = await stateStore.list({ agentId: "clerk", userId });
      expect(text(listed.slots)).toEqual(text(own));
      if (userId === null) continue;
      expect(text((await log.sessions({ agentId: "clerk", userId })).sessions)).toEqual(text(own));
    }
  });

  test("logs are read record by record, long texts whole", async () => {
    let blobs = 0;
    for (const { slot, records } of old.sessions) {
      const read = await opened.store.log.read(slot, { limit: 1_000 });
      expect(normal(read)).toEqual(normal(records));
      expect(answeredCalls(saidIn(read))).toEqual(oldAnsweredCalls(saidIn(records)));
      for (const { ref } of read.flatMap((record) => record.blobs ?? [])) {
        const whole = (await opened.store.log.readBlob(slot, ref)) ?? "";
        expect(`sha256:${createHash("sha256").update(whole).digest("hex")}`).toBe(ref);
        expect(whole).toMatch(/mark-dumped at the end$/);
        blobs++;
      }
    }
    // The encrypted long text is kept once, in files.
    expect(blobs).toBe(part === "vault" && kind !== "json" ? 0 : 1);
  });

  test("values are read, with their versions", async () => {
    const { keyValue } = opened.store;
    expect(old.values.length).toBeGreaterThanOrEqual(part === "plain" ? 9 : 1);
    for (const { namespace, key, value, version } of old.values) {
      expect(await keyValue.get(namespace, key)).toEqual({ value, version });
      const keys = old.values.filter((each) => `${each.namespace}` === `${namespace}`);
      expect((await keyValue.list(namespace)).keys).toEqual(keys.map((each) => each.key));
      if (namespace[0] === "fixtures")
        await keyValue.put(namespace, key, value, { expected: version });
    }
  });

  test("an untouched session is saved without its messages, and a next call adds its own only", async () => {
    const atRest = sessions.filter(({ head: { openCalls, shutdownInterrupted } }) => {
      // What waits for an answer, or was cut short, has tests of its own.
      return !shutdownInterrupted && Object.keys(openCalls ?? {}).length === 0;
    });
    const { agent, writes, model } = clerk(
      opened,
      atRest.map(() => "Going on."),
    );
    for (const { slot, head, messages } of atRest) {
      await agent.updateAgentState(whose(slot), () => undefined);
      const kept = { keep: messages.length, replace: [] };
      expect(writes.at(-1)).toMatchObject({ ...kept, append: [], head: migrated(head) });

      expect((await agent.call("Go on.", whose(slot))).text).toBe("Going on.");
      expect(writes.at(-1)).toMatchObject(kept);
      expect(writes.at(-1)?.append.map(textOf)).toEqual(["Go on.", "Going on."]);
      expect(normal(model.requests.at(-1)?.messages.slice(0, -1))).toEqual(normal(messages));
    }
    // The update's, the call's, and before it that of its input where the gate has no inbox.
    expect(writes).toHaveLength((opensWithSave(kind) ? 3 : 2) * atRest.length);
    await agent.close();

    const again = data.open();
    for (const { slot, messages } of atRest) {
      const stored = await loadWhole(again.store.stateStore, slot);
      const now = stored === null ? [] : stored.messages;
      expect(normal(now.slice(0, messages.length))).toEqual(normal(messages));
      expect(now.slice(messages.length).map(textOf)).toEqual(["Go on.", "Going on."]);
    }
    await again.close();
  });

  test("the model finds every old word with its session tools, in tool results too", async () => {
    for (const userId of new Set(sessions.map(({ slot }) => slot.userId))) {
      const own = sessions.filter(({ slot }) => slot.userId === userId);
      // Without a user there is only the session itself.
      const reader =
        userId === null ? whose(own[0]?.slot ?? missing()) : { userId, sessionId: "r" };
      const messages = own.flatMap(({ records }) => saidIn(records));
      const hasBlob = own.some(({ records }) => records.some(({ blobs }) => blobs !== undefined));
      const words = [...marksIn(messages.map(searchable)), ...(hasBlob ? ["mark-dumped"] : [])];
      const found = await useTools(
        reader,
        words.map((query) => ({
          name: "session_search",
          input: { query, exact: true, includeDiscarded: true },
        })),
      );
      for (const [index, word] of words.entries()) expect(found[index]).toContain(`»${word}«`);

      const histories = await useTools(
        reader,
        own.map(({ slot: { sessionId } }) => ({
          name: "session_history",
          input: { sessionId, lastN: 100, includeDiscarded: true },
        })),
      );
      for (const [index, { records }] of own.entries()) {
        const said = saidIn(records).filter(isShort);
        expect(marksIn(histories[index])).toEqual(
          expect.arrayContaining(marksIn(said.map(searchable))),
        );
      }
    }
  });

  async function useTools(
    reader: { readonly sessionId?: string | undefined },
    toolCalls: readonly { readonly name: string; readonly input: JsonObject }[],
  ): Promise<string[]> {
    const { agent, model } = clerk(opened, [{ toolCalls }, "Read."]);
    await agent.call("Read.", reader);
    const results = toolResultsOf(model.requests[1]?.messages.at(-1) ?? missing());
    await agent.close();
    expect(results).toHaveLength(toolCalls.length);
    return results.map(({ output }) =>
      output.map((block) => (block.type === "text" ? block.text : "")).join("\n"),
    );
  }
});

/** A head as this release has it once it is loaded: it needs no newer reader than before. */
function migrated(head: JsonObject): JsonObject {
  return { ...head, schemaVersion: 3 };
}

function saidIn(records: readonly LogRecord[]): Message[] {
  return records.flatMap(({ message }) => message ?? []);
}

/** What of a message a search looks at. */
function searchable({ content }: Message): unknown {
  return content.filter(({ type }) => type !== "hint");
}

/** Whether an overview shows all of it. */
function isShort(message: Message): boolean {
  return JSON.stringify(message).length < 2_000;
}

function missing(): never {
  throw new Error("nothing there");
}
