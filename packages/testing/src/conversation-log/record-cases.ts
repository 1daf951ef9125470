import assert from "node:assert/strict";
import { userMessage } from "@holdfast/core";
import type { ConformanceCase } from "../conformance/conformance-case.js";
import { awkwardMessages, everyBlockType } from "../conformance/sample-messages.js";
import { markRecord, messageRecord } from "../conformance/sample-records.js";
import { sampleSlot as slot } from "../conformance/sample-slots.js";
import { tamper } from "../conformance/tamper.js";
import { assertRecords, type LogCase, recordIds } from "./log-case.js";

/** Appended records are read once, in order. */
export function recordCases(check: LogCase): ConformanceCase[] {
  return [
    check("a slot without records reads as an empty list", async (log) => {
      assert.deepStrictEqual(await log.read(slot), []);
      await log.append(slot, []);
      assert.deepStrictEqual(await log.read(slot), []);
    }),
    check("messages of every kind and marks come back as they were, in order", async (log) => {
      const records = [
        ...[...everyBlockType(), ...awkwardMessages()].map((message) => messageRecord(message)),
        markRecord({ name: "compaction", details: { before: 50, after: 12, note: "\ud800" } }),
        markRecord({ name: "call_end", outcome: "rolled_back" }, { callId: "another" }),
      ];
      await log.append(slot, records.slice(0, 5));
      await log.append(slot, records.slice(5));
      assertRecords(await log.read(slot), records);
    }),
    check("a record appended again, at once or much later, is not doubled", async (log) => {
      const records = Array.from({ length: 250 }, (_, index) => messageRecord(`text ${index}`));
      await log.append(slot, records.slice(0, 2));
      await log.append(slot, records.slice(0, 2));
      await log.append(slot, records.slice(1, 4));
      for (let at = 4; at < records.length; at += 50)
        await log.append(slot, records.slice(at, at + 50));
      await log.append(
        slot,
        [records[0], records[200]].flatMap((record) => record ?? []),
      );
      assertRecords(await log.read(slot, { limit: 1_000 }), records);
    }),
    check("a record given twice in one append is not doubled", async (log) => {
      const [first, second] = [messageRecord("one"), messageRecord("two")];
      await log.append(slot, [first, second, first]);
      assertRecords(await log.read(slot), [first, second]);
    }),
    check("the record that was first keeps its id: a later one changes nothing", async (log) => {
      const first = messageRecord("first");
      await log.append(slot, [first]);
      await log.append(slot, [{ ...first, message: userMessage("second") }]);
      assertRecords(await log.read(slot), [first]);
    }),
    check("the same record id in two slots is two records", async (log) => {
      const other = { ...slot, sessionId: "other" };
      const record = messageRecord("text");
      await log.append(slot, [record]);
      await log.append(other, [record]);
      assertRecords(await log.read(slot), [record]);
      assertRecords(await log.read(other), [record]);
    }),
    check("values are copied both ways", async (log) => {
      const record = messageRecord(JSON.parse(JSON.stringify(userMessage("text"))));
      const kept = structuredClone(record);
      await log.append(slot, [record]);
      tamper(record);
      assertRecords(await log.read(slot), [kept]);
      tamper(await log.read(slot));
      assertRecords(await log.read(slot), [kept]);
    }),
    check("appends at once lose nothing and keep the order within each", async (log) => {
      const batches = Array.from({ length: 20 }, (_, batch) =>
        Array.from({ length: 5 }, (_, index) => messageRecord(`${batch}:${index}`)),
      );
      await Promise.all(batches.map((batch) => log.append(slot, batch)));
      const ids = await recordIds(log, slot);
      assert.equal(ids.length, 100);
      for (const batch of batches) {
        const wanted = batch.map(({ id }) => id);
        const found = ids.filter((id) => wanted.includes(id));
        assert.deepStrictEqual(found, wanted, "the batch, in its order");
      }
    }),
  ];
}
