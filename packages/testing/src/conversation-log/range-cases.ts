import assert from "node:assert/strict";
import type { ConversationLog, LogRecord } from "@holdfast/core";
import type { LogDraft } from "@holdfast/core/store-kit";
import type { ConformanceCase } from "../conformance/conformance-case.js";
import { messageRecord } from "../conformance/sample-records.js";
import { sampleSlot as slot } from "../conformance/sample-slots.js";
import type { LogCase } from "./log-case.js";

/** Reading parts of a log. */
export function rangeCases(check: LogCase): ConformanceCase[] {
  return [
    check("read returns the newest 100, or as many as asked for, oldest first", async (log) => {
      const { ids } = await fill(log, 130);
      assert.deepStrictEqual(idsOf(await log.read(slot)), ids.slice(-100));
      assert.deepStrictEqual(idsOf(await log.read(slot, { limit: 7 })), ids.slice(-7));
      assert.deepStrictEqual(idsOf(await log.read(slot, { limit: 500 })), ids);
    }),
    check(
      "before returns the newest older ones, so paging back visits every record once",
      async (log) => {
        const { ids, records } = await fill(log, 130);
        const middle = records[60]?.seq as number;
        const page = await log.read(slot, { before: middle, limit: 10 });
        assert.deepStrictEqual(idsOf(page), ids.slice(50, 60));
        const visited: string[] = [];
        for (let page = await log.read(slot, { limit: 40 }); page.length > 0; ) {
          visited.unshift(...idsOf(page));
          page = await log.read(slot, { before: page[0]?.seq, limit: 40 });
        }
        assert.deepStrictEqual(visited, ids);
      },
    ),
    check(
      "after returns the oldest newer ones, so paging on visits every record once",
      async (log) => {
        const { ids, records } = await fill(log, 130);
        const middle = records[60]?.seq as number;
        const page = await log.read(slot, { after: middle, limit: 10 });
        assert.deepStrictEqual(idsOf(page), ids.slice(61, 71));
        assert.deepStrictEqual(idsOf(await log.read(slot, { after: middle })), ids.slice(61));
        const visited: string[] = [];
        for (let page = await log.read(slot, { after: -1, limit: 40 }); page.length > 0; ) {
          visited.push(...idsOf(page));
          page = await log.read(slot, { after: page.at(-1)?.seq, limit: 40 });
        }
        assert.deepStrictEqual(visited, ids);
      },
    ),
    check("before and after together return what lies between", async (log) => {
      const { ids, records } = await fill(log, 30);
      const range = { after: records[9]?.seq, before: records[20]?.seq };
      assert.deepStrictEqual(idsOf(await log.read(slot, range)), ids.slice(10, 20));
      const oldest = await log.read(slot, { ...range, limit: 3 });
      assert.deepStrictEqual(idsOf(oldest), ids.slice(10, 13));
      const none = { after: records[9]?.seq, before: records[10]?.seq };
      assert.deepStrictEqual(await log.read(slot, none), []);
    }),
    check("beyond the ends there is nothing", async (log) => {
      const { records } = await fill(log, 3);
      assert.deepStrictEqual(await log.read(slot, { after: records.at(-1)?.seq }), []);
      assert.deepStrictEqual(await log.read(slot, { before: records[0]?.seq }), []);
    }),
  ];
}

async function fill(
  log: ConversationLog,
  count: number,
): Promise<{ ids: string[]; records: readonly LogRecord[] }> {
  const drafts: LogDraft[] = Array.from({ length: count }, (_, at) => messageRecord(`text ${at}`));
  await log.append(slot, drafts);
  return { ids: idsOf(drafts), records: await log.read(slot, { limit: count }) };
}

function idsOf(records: readonly { readonly id: string }[]): string[] {
  return records.map(({ id }) => id);
}
