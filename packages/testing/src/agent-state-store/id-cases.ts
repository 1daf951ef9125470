import assert from "node:assert/strict";
import { type AgentStateStore, type Slot, textOf, userMessage } from "@holdfast/core";
import { slotText } from "@holdfast/core/store-kit";
import { assertRejects } from "../conformance/assert-rejects.js";
import type { ConformanceCase } from "../conformance/conformance-case.js";
import { inBatches } from "../conformance/in-batches.js";
import { badIds, nastyIds } from "../conformance/nasty-ids.js";
import { badSlots, nastySlots, sampleSlot as slot } from "../conformance/sample-slots.js";
import { everySlot } from "./list-cases.js";
import { firstWrite, loadState } from "./state-writes.js";
import type { StoreCase } from "./store-case.js";

/** No id reaches another's state. */
export function idCases(check: StoreCase): ConformanceCase[] {
  return [
    check("no awkward id in any place of a slot reaches another slot's state", async (store) => {
      await assertApart(store, nastySlots());
    }),
    check("ids do not run into each other: (a, b/c) is not (a/b, c)", async (store) => {
      const pairs = ["/", ":", "", ".", "%", "\u0000", "}{", "1:", "~"].flatMap((mark) => [
        [`a`, `b${mark}c`],
        [`a${mark}b`, `c`],
        [`a${mark}b${mark}c`, `d`],
        [`a`, `b${mark}c${mark}d`],
      ]);
      const slots = pairs.flatMap(([left = "", right = ""]) => [
        { agentId: left, userId: right, sessionId: "s" },
        { agentId: "a", userId: left, sessionId: right },
        { agentId: left, userId: "u", sessionId: right },
        { agentId: left, userId: null, sessionId: right },
      ]);
      await assertApart(store, [...new Map(slots.map((each) => [slotText(each), each])).values()]);
    }),
    check(
      "a listing by user or agent returns that id's sessions and the ids as they were",
      async (store) => {
        const slots = nastyIds.flatMap((id) => [
          { agentId: "agent", userId: id, sessionId: id },
          { agentId: id, userId: "user", sessionId: id },
        ]);
        await inBatches(slots, 16, (each) => store.save(each, firstWrite(each, [])));
        const all = await everySlot(store, {});
        assert.deepStrictEqual(all.map(slotText).sort(), slots.map(slotText).sort());
        for (const [byUser, byAgent] of pairsOf(slots)) {
          const { userId, agentId } = { userId: byUser.userId, agentId: byAgent.agentId };
          assert.deepStrictEqual(await everySlot(store, { agentId: "agent", userId }), [byUser]);
          assert.deepStrictEqual(await everySlot(store, { agentId }), [byAgent]);
        }
      },
    ),
    check("what is not an id is refused by every method", async (store) => {
      await assertBadIdsRefused(store);
    }),
  ];
}

/** Fails unless every method refuses every bad id with `InvalidIdError`. */
export async function assertBadIdsRefused(store: AgentStateStore): Promise<void> {
  const write = firstWrite(slot, []);
  for (const [what, bad] of badSlots()) {
    await assertRejects(() => store.load(bad), "InvalidIdError", `load with ${what}`);
    await assertRejects(() => store.save(bad, write), "InvalidIdError", `save with ${what}`);
    await assertRejects(() => store.delete(bad), "InvalidIdError", `delete with ${what}`);
  }
  for (const bad of badIds as readonly string[]) {
    await assertRejects(
      () => store.list({ agentId: bad }),
      "InvalidIdError",
      "list by a bad agent",
    );
    await assertRejects(() => store.list({ userId: bad }), "InvalidIdError", "list by a bad user");
  }
}

/** Writes every slot, reads all back, deletes every second one and looks again. */
async function assertApart(store: AgentStateStore, slots: readonly Slot[]): Promise<void> {
  await inBatches(slots, 16, (each) =>
    store.save(each, firstWrite(each, [userMessage(slotText(each))])),
  );
  const read = async (each: Slot): Promise<void> => {
    const { messages } = await loadState(store, each);
    assert.deepStrictEqual(messages.map(textOf), [slotText(each)], "the slot's own message");
  };
  await inBatches(slots, 16, read);
  const [kept, deleted] = [slots.filter((_, at) => at % 2 === 0), slots.filter((_, at) => at % 2)];
  await inBatches(deleted, 16, async (each) => assert.equal(await store.delete(each), true));
  await inBatches(kept, 16, read);
  await inBatches(deleted, 16, async (each) => assert.equal(await store.load(each), null));
}

function pairsOf(slots: readonly Slot[]): [Slot, Slot][] {
  const pairs: [Slot, Slot][] = [];
  for (let at = 0; at + 1 < slots.length; at += 2)
    pairs.push([slots[at] as Slot, slots[at + 1] as Slot]);
  return pairs;
}
