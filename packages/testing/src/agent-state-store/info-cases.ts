import assert from "node:assert/strict";
import type { AgentStateStore, SessionInfo, Slot } from "@holdfast/core";
import { slotText } from "@holdfast/core/store-kit";
import { assertRejects } from "../conformance/assert-rejects.js";
import type { ConformanceCase } from "../conformance/conformance-case.js";
import { inBatches } from "../conformance/in-batches.js";
import { awkwardJson, inboxEntry } from "../conformance/sample-entries.js";
import { sampleSlot as slot } from "../conformance/sample-slots.js";
import { gateOf } from "./fused-gate-cases.js";
import { inboxOf } from "./inbox-cases.js";
import { everySlot } from "./list-cases.js";
import { firstWrite, loadState, nextWrite, saveNext } from "./state-writes.js";
import type { AgentStateStoreOptions, StoreCase } from "./store-case.js";

/** Facts about sessions that listings show. */
export function infoCases(
  check: StoreCase,
  options: Pick<AgentStateStoreOptions, "fuses" | "inbox">,
): ConformanceCase[] {
  const cases = [
    check("a listing shows the facts of the last save that gave any", async (store) => {
      await store.save(slot, firstWrite(slot, []));
      await assertInfo(store, undefined);
      await assertLoadedInfo(store, undefined);
      const full: SessionInfo = {
        unfinished: true,
        waiting: true,
        title: "A title: 漢字🌤 ' \"",
        metadata: awkwardJson(),
        counts: { messages: 3, "": 0.5 },
        ...{ ofANewerRelease: [1, { deep: null }] },
      };
      await saveNext(store, slot, { info: full });
      await assertInfo(store, full);
      await assertLoadedInfo(store, full);
      await saveNext(store, slot, {});
      await assertInfo(store, full);
      await assertLoadedInfo(store, full);
      await saveNext(store, slot, { info: { waiting: false } });
      await assertInfo(store, { waiting: false });
      await assertLoadedInfo(store, { waiting: false });
      await saveNext(store, slot, { info: {} });
      const info = await infoIn(store);
      assert.ok(info === undefined || Object.keys(info).length === 0);
    }),
    check("a refused or repeated save changes no facts", async (store) => {
      const write = firstWrite(slot, [], { info: { title: "first", unfinished: true } });
      await store.save(slot, write);
      const refused = firstWrite(slot, [], { info: { title: "refused" } });
      await assertRejects(() => store.save(slot, refused), "StateConflictError", "a stale save");
      await assertInfo(store, { title: "first", unfinished: true });
      await saveNext(store, slot, { info: { title: "second", unfinished: false } });
      await store.save(slot, write);
      await assertInfo(store, { title: "second", unfinished: false });
      assert.deepStrictEqual(await everySlot(store, { unfinished: true }), []);
    }),
    check("a session made after a delete has none of the facts before", async (store) => {
      await store.save(slot, firstWrite(slot, [], { info: { unfinished: true } }));
      await store.delete(slot);
      assert.deepStrictEqual(await everySlot(store, { unfinished: true }), []);
      await store.save(slot, firstWrite(slot, []));
      await assertInfo(store, undefined);
      await assertLoadedInfo(store, undefined);
      assert.deepStrictEqual(await everySlot(store, { unfinished: true }), []);
    }),
    check("a listing of the unfinished shows exactly those, page by page", async (store) => {
      const slots = Array.from({ length: 60 }, (_, index) => ({
        agentId: `agent-${index % 2}`,
        userId: index % 3 === 0 ? null : "user",
        sessionId: `session-${index}`,
      }));
      const isUnfinished = (index: number): boolean => index % 5 < 2;
      await inBatches(slots, 8, (each, index) =>
        store.save(
          each,
          firstWrite(each, [], {
            info: index % 5 === 4 ? undefined : { unfinished: isUnfinished(index) },
          }),
        ),
      );
      const unfinished = slots.filter((_, index) => isUnfinished(index));
      await assertListed(store, { unfinished: true, limit: 7 }, unfinished);
      await assertListed(store, { unfinished: false, limit: 7 }, slots);
      const agentId = "agent-1";
      const ofAgent = unfinished.filter((each) => each.agentId === agentId);
      await assertListed(store, { unfinished: true, agentId, limit: 3 }, ofAgent);
      const userId = null;
      const anonymous = ofAgent.filter((each) => each.userId === userId);
      await assertListed(store, { unfinished: true, agentId, userId, limit: 3 }, anonymous);
      await assertListed(
        store,
        { unfinished: true, userId },
        unfinished.filter((each) => each.userId === userId),
      );

      const [ended, ...rest] = unfinished as [Slot, ...Slot[]];
      const write = nextWrite(await loadState(store, ended), [], { info: { unfinished: false } });
      await store.save(ended, write);
      await assertListed(store, { unfinished: true }, rest);
    }),
  ];
  cases.push(
    check(
      "a listing of few unfinished sessions among many ends with all of them",
      async (store) => {
        const slots = Array.from({ length: 130 }, (_, index) => ({
          ...{ agentId: "agent", userId: "user", sessionId: `session-${index}` },
        }));
        const isUnfinished = (index: number): boolean => index % 64 === 0;
        await inBatches(slots, 16, (each, index) =>
          store.save(each, firstWrite(each, [], { info: { unfinished: isUnfinished(index) } })),
        );
        const unfinished = slots.filter((_, index) => isUnfinished(index));
        for (const query of [{}, { agentId: "agent" }, { agentId: "agent", userId: "user" }])
          await assertListed(store, { ...query, unfinished: true, limit: 2 }, unfinished);
      },
    ),
  );
  if (options.inbox)
    cases.push(
      check("a session with input in its inbox is unfinished until it is taken", async (store) => {
        await store.save(slot, firstWrite(slot, [], { info: { unfinished: false, title: "t" } }));
        const [input, message] = [inboxEntry("hello"), inboxEntry("stop", { kind: "interrupt" })];
        await inboxOf(store).put(slot, message);
        await assertListed(store, { unfinished: true }, []);
        await inboxOf(store).put(slot, input);
        await assertListed(store, { unfinished: true }, [slot]);
        await assertInfo(store, { unfinished: true, title: "t" });
        await assertLoadedInfo(store, { unfinished: false, title: "t" });
        await inboxOf(store).remove(slot, [input.id]);
        await assertListed(store, { unfinished: true }, []);
        await assertInfo(store, { unfinished: false, title: "t" });
      }),
      check("a message to a session that does not exist lists none", async (store) => {
        await inboxOf(store).put(slot, inboxEntry("stop", { kind: "interrupt" }));
        await assertListed(store, {}, []);
        await assertListed(store, { unfinished: true }, []);
      }),
    );
  if (options.inbox && options.fuses?.includes("gate"))
    cases.push(
      check("a session is unfinished from the grant that put its input", async (store) => {
        await store.save(slot, firstWrite(slot, []));
        const put = inboxEntry("hello");
        const lease = await gateOf(store).acquire(slot, { callId: "c-1", put });
        await assertListed(store, { unfinished: true }, [slot]);
        await saveNext(store, slot, {
          lease: lease.token,
          takes: [put.id],
          info: { unfinished: true },
        });
        await assertListed(store, { unfinished: true }, [slot]);
        await saveNext(store, slot, {
          lease: lease.token,
          info: { unfinished: false },
          release: true,
        });
        await assertListed(store, { unfinished: true }, []);
      }),
    );
  return cases;
}

async function infoIn(store: AgentStateStore): Promise<SessionInfo | undefined> {
  const { slots } = await store.list();
  assert.equal(slots.length, 1, "sessions listed");
  return slots[0]?.info;
}

async function assertInfo(store: AgentStateStore, info: SessionInfo | undefined): Promise<void> {
  assert.deepStrictEqual(await infoIn(store), info);
}

/** Fails when the state is loaded with other facts than these. */
async function assertLoadedInfo(
  store: AgentStateStore,
  info: SessionInfo | undefined,
): Promise<void> {
  assert.deepStrictEqual((await loadState(store, slot)).info, info);
}

/** Fails unless a query lists exactly these sessions, each once. */
export async function assertListed(
  store: AgentStateStore,
  query: Parameters<typeof everySlot>[1],
  slots: readonly Slot[],
): Promise<void> {
  const listed = await everySlot(store, query);
  assert.deepStrictEqual(listed.map(slotText).sort(), slots.map(slotText).sort());
}
