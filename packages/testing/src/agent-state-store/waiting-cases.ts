import assert from "node:assert/strict";
import type { AgentStateStore, SessionInfo, Slot, SlotQuery } from "@holdfast/core";
import { slotText } from "@holdfast/core/store-kit";
import { assertRejects } from "../conformance/assert-rejects.js";
import type { ConformanceCase } from "../conformance/conformance-case.js";
import { inBatches } from "../conformance/in-batches.js";
import { inboxEntry } from "../conformance/sample-entries.js";
import { sampleSlot as slot } from "../conformance/sample-slots.js";
import { inboxOf } from "./inbox-cases.js";
import { assertListed } from "./info-cases.js";
import { assertStablePaging } from "./list-cases.js";
import { firstWrite, loadState, nextWrite, saveNext } from "./state-writes.js";
import type { AgentStateStoreOptions, StoreCase } from "./store-case.js";

const waiting = true;

/** Listings of sessions whose tool calls wait for an answer. */
export function waitingCases(
  check: StoreCase,
  options: Pick<AgentStateStoreOptions, "inbox" | "reopen">,
): ConformanceCase[] {
  const cases = [
    check("a listing of the waiting shows exactly those, page by page", async (store) => {
      const slots = slotsNamed(60);
      await fill(store, slots, (index) => infos[index % infos.length]);
      const select = (holds: (info: SessionInfo | undefined) => boolean): Slot[] =>
        slots.filter((_, index) => holds(infos[index % infos.length]));
      const ofAll = select((info) => info?.waiting === true);
      await assertListed(store, { waiting, limit: 7 }, ofAll);
      await assertListed(store, { waiting: false, limit: 7 }, slots);
      const both = ofAll.filter((each) =>
        select((info) => info?.unfinished === true).includes(each),
      );
      assert.notEqual(both.length, 0);
      await assertListed(store, { waiting, unfinished: true, limit: 3 }, both);
      for (const [agentId, userId] of [
        ["agent-1", undefined],
        ["agent-1", null],
        ["agent-0", "user"],
        [undefined, null],
        ["nobody", undefined],
      ] as const) {
        const query: SlotQuery = { waiting, agentId, userId, limit: 3 };
        const wanted = ofAll
          .filter((each) => agentId === undefined || each.agentId === agentId)
          .filter((each) => userId === undefined || each.userId === userId);
        await assertListed(store, query, wanted);
      }
    }),
    check("a listing of few waiting sessions among many ends with all of them", async (store) => {
      const slots = slotsNamed(260, { agentId: "agent", userId: "user" });
      // The first ones, which come last.
      const isWaiting = (index: number): boolean => index === 0 || index === 1 || index === 130;
      await fill(store, slots, (index) => ({ waiting: isWaiting(index) }));
      const wanted = slots.filter((_, index) => isWaiting(index));
      for (const query of [{}, { agentId: "agent" }, { agentId: "agent", userId: "user" }])
        await assertListed(store, { ...query, waiting, limit: 2 }, wanted);
    }),
    check("a session waits for as long as its last facts say so", async (store) => {
      await store.save(slot, firstWrite(slot, [], { info: { waiting } }));
      await assertWaits(store, true);
      await saveNext(store, slot, {});
      await assertWaits(store, true, "after a save without facts");
      await saveNext(store, slot, { info: { waiting } });
      await assertWaits(store, true, "after it was saved as waiting again");
      for (const info of [{ waiting: false }, {}]) {
        await saveNext(store, slot, { info });
        await assertWaits(store, false, "after a save that ended it");
        await saveNext(store, slot, { info: { waiting } });
        await assertWaits(store, true, "after it began anew");
      }
    }),
    check("a deleted session does not wait, nor one made after it", async (store) => {
      await store.save(slot, firstWrite(slot, [], { info: { waiting } }));
      await store.delete(slot);
      await assertWaits(store, false, "after the delete");
      await store.save(slot, firstWrite(slot, []));
      await assertWaits(store, false, "made anew");
      await saveNext(store, slot, { info: { waiting } });
      await assertWaits(store, true, "made anew and waiting");
    }),
    check("a refused save neither begins nor ends a wait", async (store) => {
      const first = await store.save(slot, firstWrite(slot, [], { info: { waiting: false } }));
      const refuse = (info: SessionInfo): Promise<void> => {
        const write = firstWrite(slot, [], { info });
        return assertRejects(() => store.save(slot, write), "StateConflictError", "a stale save");
      };
      await refuse({ waiting });
      await assertWaits(store, false, "after a refused save that waits");
      await saveNext(store, slot, { info: { waiting }, expected: first });
      await refuse({ waiting: false });
      await assertWaits(store, true, "after a refused save that does not wait");
    }),
    check("a repeated save neither begins nor ends a wait", async (store) => {
      const first = firstWrite(slot, [], { info: { waiting: false } });
      await store.save(slot, first);
      const second = nextWrite(await loadState(store, slot), [], { info: { waiting: false } });
      await store.save(slot, second);
      await assertWaits(store, false);
      const begins = nextWrite(await loadState(store, slot), [], { info: { waiting } });
      await store.save(slot, begins);
      for (const earlier of [first, second]) {
        await store.save(slot, earlier);
        await assertWaits(store, true, "after a repeated save from before it waited");
      }
      await store.save(slot, begins);
      await assertWaits(store, true, "after the save repeated from which it waits");
      await saveNext(store, slot, { info: { waiting: false } });
      await store.save(slot, begins);
      await assertWaits(store, false, "after a repeated save from when it waited");
    }),
    check("a listing of the waiting misses none, whatever is saved meanwhile", async (store) => {
      const all = slotsNamed(48, { agentId: "agent", userId: "user" });
      await fill(store, all, (index) => ({ waiting: index % 2 === 0 }));
      const slots = all.filter((_, index) => index % 2 === 0);
      for (const query of [{}, { agentId: "agent" }, { agentId: "agent", userId: "user" }])
        await assertStablePaging(store, slots, { ...query, waiting }, { waiting });
    }),
  ];
  if (options.inbox)
    cases.push(
      check("input in the inbox of a session that waits makes it unfinished too", async (store) => {
        await store.save(slot, firstWrite(slot, [], { info: { waiting, unfinished: false } }));
        await assertListed(store, { waiting, unfinished: true }, []);
        const input = inboxEntry("hello");
        await inboxOf(store).put(slot, input);
        await assertListed(store, { waiting, unfinished: true }, [slot]);
        await inboxOf(store).remove(slot, [input.id]);
        await assertListed(store, { waiting, unfinished: true }, []);
        await assertWaits(store, true);
      }),
      check("input alone makes no session wait", async (store) => {
        await inboxOf(store).put(slot, inboxEntry("hello"));
        await assertWaits(store, false);
      }),
    );
  if (options.reopen !== undefined)
    cases.push(
      check("instances see each other's waits begin and end", async (store, reopen) => {
        const other = await reopen();
        await store.save(slot, firstWrite(slot, [], { info: { waiting } }));
        for (let round = 0; round < 3; round++) {
          await assertWaits(other, true, "begun by another instance");
          await saveNext(other, slot, { info: { waiting: false } });
          await assertWaits(store, false, "ended by another instance");
          await saveNext(store, slot, { info: { waiting } });
        }
        await other.delete(slot);
        await assertWaits(store, false, "deleted by another instance");
      }),
    );
  return cases;
}

/** Facts of sessions in turn: those that wait, with and without a run that has not ended, and those that do not. */
const infos: readonly (SessionInfo | undefined)[] = [
  { waiting: true, unfinished: false },
  { waiting: false, unfinished: true },
  { waiting: false },
  { waiting: true, unfinished: true, title: "both" },
  undefined,
  { title: '"waiting":true', metadata: { waiting: true } },
  {},
];

function slotsNamed(count: number, owner?: Pick<Slot, "agentId" | "userId">): Slot[] {
  return Array.from({ length: count }, (_, index) => ({
    ...(owner ?? { agentId: `agent-${index % 2}`, userId: index % 3 === 0 ? null : "user" }),
    sessionId: `session-${index}`,
  }));
}

async function fill(
  store: AgentStateStore,
  slots: readonly Slot[],
  infoOf: (index: number) => SessionInfo | undefined,
): Promise<void> {
  await inBatches(slots, 16, (each, index) =>
    store.save(each, firstWrite(each, [], { info: infoOf(index) })),
  );
}

/** Fails unless the sample session is listed among those that wait, or is not. */
async function assertWaits(store: AgentStateStore, waits: boolean, when = ""): Promise<void> {
  for (const query of [{}, { agentId: slot.agentId, userId: slot.userId }]) {
    const { slots } = await store.list({ ...query, waiting });
    assert.deepStrictEqual(
      slots.map((each) => slotText(each.slot)),
      waits ? [slotText(slot)] : [],
      when,
    );
  }
}
