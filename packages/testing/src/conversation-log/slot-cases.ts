import assert from "node:assert/strict";
import { type ConversationLog, type Slot, textOf } from "@holdfast/core";
import { slotText } from "@holdfast/core/store-kit";
import { assertOutage, assertRejects } from "../conformance/assert-rejects.js";
import type { ConformanceCase } from "../conformance/conformance-case.js";
import { inBatches } from "../conformance/in-batches.js";
import { messageRecord } from "../conformance/sample-records.js";
import { badSlots, nastySlots, sampleSlot as slot } from "../conformance/sample-slots.js";
import { assertRecords, type ConversationLogOptions, type LogCase, recordIds } from "./log-case.js";

/** Slots apart, deletes, outages. */
export function slotCases(
  check: LogCase,
  options: Pick<ConversationLogOptions, "breakBackend">,
): ConformanceCase[] {
  const cases = [
    check("no awkward id in any place of a slot reaches another slot's records", async (log) => {
      const slots = nastySlots();
      await inBatches(slots, 16, (each) => log.append(each, [messageRecord(slotText(each))]));
      await inBatches(slots, 16, async (each) => {
        const texts = (await log.read(each)).map(({ message }) => message && textOf(message));
        assert.deepStrictEqual(texts, [slotText(each)], "the slot's own record");
      });
    }),
    check("what is not an id is refused by every method", async (log) => {
      await assertBadIdsRefused(log);
    }),
    check("delete removes records and blobs of the slot, and nothing else", async (log) => {
      const other = { ...slot, sessionId: "other" };
      const long = messageRecord("needle ".repeat(20_000));
      assert.equal(await log.delete(slot), false);
      await log.append(slot, [long, messageRecord("needle")]);
      await log.append(other, [long]);
      const ref = (await log.read(slot))[0]?.blobs?.[0]?.ref as string;
      assert.equal(await log.delete(slot), true);
      assert.equal(await log.delete(slot), false);
      assert.deepStrictEqual(await log.read(slot), []);
      assert.equal(await log.readBlob(slot, ref), null);
      const { agentId, userId } = slot;
      const { hits } = await log.search({ agentId, userId, text: "needle" });
      assert.deepStrictEqual(
        hits.map((hit) => hit.slot),
        [other],
      );
      assert.notEqual(await log.readBlob(other, ref), null, "the other slot's blob stays");
    }),
    check("after a delete a slot can be used again, with the same record ids", async (log) => {
      const record = messageRecord("text");
      await log.append(slot, [record]);
      await log.delete(slot);
      await log.append(slot, [record]);
      assertRecords(await log.read(slot), [record]);
      assert.deepStrictEqual(await recordIds(log, slot), [record.id]);
    }),
  ];
  if (options.breakBackend !== undefined)
    cases.push(
      check("an outage fails every method and is never an empty log", async (log) => {
        await log.append(slot, [messageRecord("text")]);
        await options.breakBackend?.(log);
        await Promise.all([
          assertOutage(() => log.append(slot, [messageRecord("more")]), "append"),
          assertOutage(() => log.read(slot), "read"),
          assertOutage(() => log.readBlob(slot, `sha256:${"0".repeat(64)}`), "readBlob"),
          assertOutage(() => log.search({ ...slot, text: "text" }), "search"),
          assertOutage(() => log.sessions({ agentId: "agent", userId: "user" }), "sessions"),
          assertOutage(() => log.delete(slot), "delete"),
        ]);
        await assertBadIdsRefused(log);
      }),
    );
  return cases;
}

async function assertBadIdsRefused(log: ConversationLog): Promise<void> {
  for (const [what, bad] of badSlots()) {
    const append = () => log.append(bad, [messageRecord("x")]);
    await assertRejects(append, "InvalidIdError", `append with ${what}`);
    await assertRejects(() => log.read(bad), "InvalidIdError", `read with ${what}`);
    const readBlob = () => log.readBlob(bad, `sha256:${"0".repeat(64)}`);
    await assertRejects(readBlob, "InvalidIdError", `readBlob with ${what}`);
    await assertRejects(() => log.delete(bad), "InvalidIdError", `delete with ${what}`);
    if (bad.sessionId === "session") {
      const sessions = () => log.sessions(bad as Slot & { userId: string });
      await assertRejects(sessions, "InvalidIdError", `sessions with ${what}`);
    }
    if (bad.sessionId === undefined) continue;
    const search = () => log.search({ ...bad, text: "x" });
    await assertRejects(search, "InvalidIdError", `search with ${what}`);
  }
}
