import { assertOutage, assertRejects, rejectionOf } from "../conformance/assert-rejects.js";
import type { ConformanceCase } from "../conformance/conformance-case.js";
import { inboxEntry } from "../conformance/sample-entries.js";
import { numberedMessages } from "../conformance/sample-messages.js";
import { sampleSlot as slot } from "../conformance/sample-slots.js";
import { assertBadIdsRefused } from "./id-cases.js";
import { assertBadIdsRefusedByInbox } from "./inbox-cases.js";
import { firstWrite, loadState, nextWrite } from "./state-writes.js";
import type { AgentStateStoreOptions, StoreCase } from "./store-case.js";

/** Errors never look like absence. */
export function failureCases(
  check: StoreCase,
  options: Pick<AgentStateStoreOptions, "corrupt" | "breakBackend" | "inbox">,
): ConformanceCase[] {
  const cases: ConformanceCase[] = [];
  if (options.corrupt !== undefined)
    cases.push(
      check(
        "damaged data fails to load as corrupt, and is not taken for absence",
        async (store) => {
          await store.save(slot, firstWrite(slot, numberedMessages(20)));
          await options.corrupt?.(store, slot);
          await assertRejects(() => store.load(slot), "StateCorruptError", "loading damaged data");
          const fresh = firstWrite(slot, []);
          await rejectionOf(() => store.save(slot, fresh), "a fresh state over damaged data");
        },
      ),
    );
  if (options.breakBackend !== undefined)
    cases.push(
      check(
        "an outage fails every method, in bounded time, and is never absence",
        async (store) => {
          await store.save(slot, firstWrite(slot, numberedMessages(2)));
          const loaded = await loadState(store, slot);
          await options.breakBackend?.(store);
          await Promise.all([
            assertOutage(() => store.load(slot), "load"),
            assertOutage(() => store.load(slot, loaded.revision), "load with a known revision"),
            assertOutage(() => store.save(slot, nextWrite(loaded, [])), "save"),
            assertOutage(() => store.list(), "list"),
            assertOutage(() => store.delete(slot), "delete"),
          ]);
          const { inbox } = store;
          if (inbox !== undefined)
            await Promise.all([
              assertOutage(() => inbox.put(slot, inboxEntry("lost")), "put into the inbox"),
              assertOutage(() => inbox.read(slot), "read of the inbox"),
              assertOutage(() => inbox.remove(slot, ["x"]), "remove from the inbox"),
            ]);
        },
      ),
      check(
        "what is not an id is refused before any I/O, so during an outage too",
        async (store) => {
          await options.breakBackend?.(store);
          await assertBadIdsRefused(store);
          if (options.inbox) await assertBadIdsRefusedByInbox(store);
        },
      ),
    );
  return cases;
}
