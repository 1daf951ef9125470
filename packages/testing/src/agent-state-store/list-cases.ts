import assert from "node:assert/strict";
import type { AgentStateStore, SessionInfo, Slot, SlotQuery } from "@holdfast/core";
import { slotText, uuidv7 } from "@holdfast/core/store-kit";
import { type ConformanceCase, caseTimeoutMs } from "../conformance/conformance-case.js";
import { inBatches } from "../conformance/in-batches.js";
import { eventually } from "../crash/eventually.js";
import { firstWrite, loadState, nextWrite } from "./state-writes.js";
import type { AgentStateStoreOptions, StoreCase } from "./store-case.js";

/** Listing sessions. */
export function listCases(
  check: StoreCase,
  options: Pick<AgentStateStoreOptions, "timeoutMs">,
): ConformanceCase[] {
  return [
    check("an empty store lists nothing, without a cursor", async (store) => {
      assert.deepStrictEqual(await store.list(), { slots: [] });
    }),
    check("paging visits every one of 150 sessions exactly once", async (store) => {
      const slots = await fill(store, 150, (index) => ({
        agentId: "agent",
        userId: index % 3 === 0 ? null : `user-${index % 3}`,
        sessionId: `session-${index}`,
      }));
      for (const query of [{}, { agentId: "agent" }]) {
        const listed = await everySlot(store, { ...query, limit: 40 });
        assert.deepStrictEqual(listed.map(slotText).sort(), slots.map(slotText).sort());
      }
    }),
    check("a page holds at most as many as asked for, 100 by default", async (store) => {
      await fill(store, 105, (index) => ({
        agentId: "agent",
        userId: "user",
        sessionId: `session-${index}`,
      }));
      for (const query of [{}, { agentId: "agent", userId: "user" }]) {
        assert.equal((await store.list(query)).slots.length, 100);
        assert.equal((await store.list({ ...query, limit: 7 })).slots.length, 7);
      }
    }),
    check(
      "a listing shows the agent's or user's sessions only, anonymous ones for null",
      async (store) => {
        const agents = ["a", "b"];
        const users = ["u", "v", "0", "null", null];
        const slots = agents.flatMap((agentId) =>
          users.flatMap((userId) =>
            ["1", "2"].map((sessionId) => ({ agentId, userId, sessionId })),
          ),
        );
        await inBatches(slots, 8, (slot) => store.save(slot, firstWrite(slot, [])));
        for (const agentId of [...agents, undefined, "nobody"])
          for (const userId of [...users, undefined, "nobody"]) {
            const listed = await everySlot(store, { agentId, userId, limit: 3 });
            const wanted = slots.filter(
              (slot) =>
                (agentId === undefined || slot.agentId === agentId) &&
                (userId === undefined || slot.userId === userId),
            );
            assert.deepStrictEqual(listed.map(slotText).sort(), wanted.map(slotText).sort());
          }
      },
    ),
    check(
      "the session saved last is on the first page, with the time of its save",
      async (store) => {
        await fill(store, 60, (index) => ({
          agentId: "agent",
          userId: `user-${index % 2}`,
          sessionId: `session-${index}`,
        }));
        const last = { agentId: "agent", userId: "user-0", sessionId: "last" };
        await store.save(last, firstWrite(last, []));
        for (const query of [{}, { agentId: "agent" }, { agentId: "agent", userId: "user-0" }]) {
          const page = await store.list({ ...query, limit: 20 });
          const info = page.slots.find(({ slot }) => slotText(slot) === slotText(last));
          assert.ok(info !== undefined, "the newest session within the first 20");
          assert.ok(!Number.isNaN(Date.parse(info.updatedAt)), "updatedAt is a time");
        }
      },
    ),
    check("every save moves updatedAt on, also one without messages", async (store) => {
      const slot = { agentId: "agent", userId: "user", sessionId: "session" };
      await store.save(slot, firstWrite(slot, []));
      const updatedAt = async () => Date.parse((await store.list()).slots[0]?.updatedAt ?? "");
      const first = await updatedAt();
      // Repeated, as a clock stands still for a moment, and times are exact to a second only.
      await eventually(
        async () => {
          await store.save(slot, nextWrite(await loadState(store, slot), []));
          return (await updatedAt()) > first;
        },
        { what: "a later time of the last save", timeoutMs: caseTimeoutMs(options) / 2 },
      );
    }),
    check(
      "a listing misses no session that was there all the time, whatever is saved meanwhile",
      async (store) => {
        const slots = await fill(store, 30, (index) => ({
          agentId: "agent",
          userId: "user",
          sessionId: `session-${index}`,
        }));
        for (const query of [{}, { agentId: "agent" }, { agentId: "agent", userId: "user" }])
          await assertStablePaging(store, slots, query);
      },
    ),
  ];
}

/** Saves sessions between the pages of a listing; fails when one is missing, or one left alone comes twice. */
export async function assertStablePaging(
  store: AgentStateStore,
  slots: readonly Slot[],
  query: SlotQuery,
  info?: SessionInfo,
): Promise<void> {
  const seen: string[] = [];
  const saved = new Set<string>();
  let cursor: string | undefined;
  let pages = 0;
  do {
    const page = await store.list({ ...query, limit: 4, cursor });
    seen.push(...page.slots.map(({ slot }) => slotText(slot)));
    assert.ok(++pages <= 100, "a listing ends although sessions are saved");
    const isNext = (each: Slot): boolean => !seen.includes(slotText(each));
    const ahead = slots.filter(isNext);
    // One of those to come first, one of those to come last, one that was listed, and a new one.
    const touched = [ahead[0], ahead.at(-1), slots.find((each) => !isNext(each))];
    for (const each of touched.filter((slot) => slot !== undefined)) {
      saved.add(slotText(each));
      await store.save(each, nextWrite(await loadState(store, each), [], { info }));
    }
    const made = { agentId: "agent", userId: "user", sessionId: uuidv7() };
    await store.save(made, firstWrite(made, [], { info }));
    cursor = page.cursor;
  } while (cursor !== undefined);
  for (const each of slots) {
    const times = seen.filter((text) => text === slotText(each)).length;
    assert.ok(times > 0, `${slotText(each)} was missed`);
    if (!saved.has(slotText(each)))
      assert.equal(times, 1, `${slotText(each)} was left alone, so it comes once`);
  }
}

/** Every slot a query lists, page by page; fails when one comes twice or a page is over the limit. */
export async function everySlot(store: AgentStateStore, query: SlotQuery): Promise<Slot[]> {
  const slots: Slot[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  do {
    const page = await store.list({ ...query, cursor });
    assert.ok(page.slots.length <= (query.limit ?? 100), "a page within the limit");
    for (const { slot } of page.slots) {
      assert.ok(!seen.has(slotText(slot)), `${slotText(slot)} was listed twice`);
      seen.add(slotText(slot));
      slots.push(slot);
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
  return slots;
}

async function fill(
  store: AgentStateStore,
  count: number,
  name: (index: number) => Slot,
): Promise<Slot[]> {
  const slots = Array.from({ length: count }, (_, index) => name(index));
  await inBatches(slots, 16, (slot) => store.save(slot, firstWrite(slot, [])));
  return slots;
}
