import assert from "node:assert/strict";
import type { ConversationLog } from "@holdfast/core";
import type { ConformanceCase } from "../conformance/conformance-case.js";
import { messageRecord } from "../conformance/sample-records.js";
import { sampleSlot as slot } from "../conformance/sample-slots.js";
import { assertRecords, type LogCase, recordIds } from "./log-case.js";

/** Two instances over the same data, as two processes would have. */
export function reopenCases(check: LogCase): ConformanceCase[] {
  return [
    check("acknowledged records are read through a second instance", async (log, reopen) => {
      const records = [messageRecord("one"), messageRecord("two".repeat(50_000))];
      await log.append(slot, records);
      const second = await reopen();
      const read = await second.read(slot);
      assert.deepStrictEqual(
        read.map(({ id }) => id),
        records.map(({ id }) => id),
      );
      const ref = read[1]?.blobs?.[0]?.ref as string;
      assert.equal(await second.readBlob(slot, ref), "two".repeat(50_000));
      const { agentId, userId } = slot;
      assert.equal((await second.search({ agentId, userId, text: "one" })).hits.length, 1);
    }),
    check("a record repeated through another instance is not doubled", async (log, reopen) => {
      const [first, second, third] = ["one", "two", "three"].map((text) => messageRecord(text));
      assert.ok(first && second && third);
      const other = await reopen();
      await log.append(slot, [first, second]);
      await other.append(slot, [second, third]);
      await log.append(slot, [first, third]);
      for (const each of [log, other]) assertRecords(await each.read(slot), [first, second, third]);
    }),
    check("appends through two instances at once lose and double nothing", async (log, reopen) => {
      const logs: ConversationLog[] = [log, await reopen()];
      const batches = Array.from({ length: 20 }, (_, batch) =>
        Array.from({ length: 5 }, (_, index) => messageRecord(`${batch}:${index}`)),
      );
      // Every batch goes through both, so that each record is also a repeat.
      await Promise.all(batches.flatMap((batch) => logs.map((each) => each.append(slot, batch))));
      const wanted = batches.flat().map(({ id }) => id);
      for (const each of logs)
        assert.deepStrictEqual((await recordIds(each, slot)).sort(), wanted.sort());
    }),
    check("a delete is seen by a second instance", async (log, reopen) => {
      const second = await reopen();
      const { agentId } = slot;
      const listed = async () => (await second.sessions({ agentId, userId: "user" })).sessions;
      await second.append(slot, [messageRecord("text")]);
      assert.equal((await listed()).length, 1);
      assert.equal(await log.delete(slot), true);
      assert.deepStrictEqual(await second.read(slot), []);
      assert.deepStrictEqual(await listed(), [], "it is not listed any more");
    }),
  ];
}
