import assert from "node:assert/strict";
import type { AgentStateStore, ConversationLog } from "@holdfast/core";
import { assertRejects } from "../conformance/assert-rejects.js";
import type { ConformanceCase } from "../conformance/conformance-case.js";
import { numberedMessages } from "../conformance/sample-messages.js";
import { markRecord, messageRecord } from "../conformance/sample-records.js";
import { sampleSlot as slot } from "../conformance/sample-slots.js";
import { firstWrite, loadState, nextWrite } from "./state-writes.js";
import type { StoreCase } from "./store-case.js";

/** Stores that write the log with the save. */
export function fusedLogCases(check: StoreCase): ConformanceCase[] {
  return [
    check("records sent with a save are in the log, in order, after it", async (store) => {
      const [first, second, third] = [messageRecord("one"), messageRecord("two"), markRecord()];
      await logOf(store).append(slot, [first]);
      const write = firstWrite(slot, numberedMessages(1), { log: [second, third] });
      await store.save(slot, write);
      assert.deepStrictEqual(await idsIn(store), [first.id, second.id, third.id]);
    }),
    check("records of a save that is refused are not in the log", async (store) => {
      await store.save(slot, firstWrite(slot, numberedMessages(1)));
      const write = firstWrite(slot, [], { log: [messageRecord("never")] });
      await assertRejects(() => store.save(slot, write), "StateConflictError", "a stale save");
      assert.deepStrictEqual(await idsIn(store), []);
    }),
    check("a repeated save does not double its records", async (store) => {
      const write = firstWrite(slot, numberedMessages(1), {
        log: [messageRecord("one"), messageRecord("two")],
      });
      await store.save(slot, write);
      await store.save(slot, write);
      assert.deepStrictEqual(
        await idsIn(store),
        write.log?.map((record) => record.id),
      );
    }),
    check("a record that is in the log already is not doubled by a save", async (store) => {
      const record = messageRecord("one");
      await logOf(store).append(slot, [record]);
      await store.save(slot, firstWrite(slot, numberedMessages(1), { log: [record] }));
      const more = nextWrite(await loadState(store, slot), [], { log: [record, markRecord()] });
      await store.save(slot, more);
      assert.deepStrictEqual(
        await idsIn(store),
        more.log?.map(({ id }) => id),
      );
    }),
  ];
}

function logOf(store: AgentStateStore): ConversationLog {
  const log = store.fuses?.log;
  assert.ok(log !== undefined, "options.fuses names the log, the store's fuses does not");
  return log;
}

async function idsIn(store: AgentStateStore): Promise<string[]> {
  return (await logOf(store).read(slot)).map((record) => record.id);
}
