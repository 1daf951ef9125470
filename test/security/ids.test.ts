import { readdirSync } from "node:fs";
import { basename, dirname } from "node:path";
import { userMessage } from "@holdfast/core";
import { pathSegment, slotKey } from "@holdfast/core/store-kit";
import { scaled } from "@holdfast/testing";
import { expect, test } from "vitest";
import { loadState, said, writeOn } from "../encryption/stored.js";
import { report, slow } from "./corpus.js";
import { placeOf, sharedStores } from "./every-place.js";
import { hostileIds, hostileSlots, inBatches } from "./hostile-slots.js";

test("no two ids have the same file name, where case is folded and Unicode normalised too", (context) => {
  const ids = hostileIds(scaled(300, 10_000));
  const folded = (name: string) => name.normalize("NFKC").toLowerCase().toUpperCase();
  expect(new Set(ids.map((id) => folded(pathSegment(id)))).size).toBe(ids.length);
  expect(ids.map(pathSegment).filter((name) => !/^[a-z0-9_%~-]{1,200}$/.test(name))).toEqual([]);
  const slots = hostileSlots(ids);
  expect(new Set(slots.map(slotKey)).size).toBe(slots.length);
  report(context, { ids: ids.length });
});

test.for(sharedStores)(
  "%s: what is stored for one of many hostile slots is read, changed and deleted for that one only",
  slow,
  async (kind, context) => {
    const place = await placeOf(kind);
    const { stateStore } = place.open();
    const slots = hostileSlots(hostileIds(scaled(80, 10_000)));
    await inBatches(slots, async (slot, index) => {
      expect(await stateStore.load(slot)).toBeNull();
      const write = writeOn(null, [userMessage(`message ${index}`)], { head: { index } });
      await stateStore.save(slot, write);
    });
    const other = place.open().stateStore;
    await inBatches(slots, async (slot, index) => {
      const { head, messages } = await loadState(other, slot);
      expect(head).toEqual({ index });
      expect(messages[0]?.content).toEqual([{ type: "text", text: `message ${index}` }]);
    });
    await inBatches(slots, async (slot, index) => {
      if (index % 2 === 0) expect(await other.delete(slot)).toBe(true);
    });
    await inBatches(slots, async (slot, index) => {
      if (index % 2 === 0) expect(await stateStore.load(slot)).toBeNull();
      else expect((await loadState(stateStore, slot)).head).toEqual({ index });
    });
    report(context, { slots: slots.length, pairs: pairsOf(slots.length) });
    if (place.root !== undefined) {
      expect(readdirSync(dirname(place.root))).toEqual([basename(place.root)]);
      const names = readdirSync(place.root, { recursive: true, encoding: "utf8" });
      expect(names.filter((name) => !/^[@a-z0-9_%~./-]+$/.test(name) || /\.\./.test(name))).toEqual(
        [],
      );
    }
  },
);

test.for(sharedStores)(
  "%s: logs, long texts, inboxes and values of many hostile slots are kept apart",
  slow,
  async (kind, context) => {
    const place = await placeOf(kind);
    const { stateStore, log, keyValue } = place.open();
    const slots = hostileSlots(hostileIds(scaled(50, 2_000)));
    await inBatches(slots, async (slot, index) => {
      expect(await log.read(slot)).toEqual([]);
      const text = index % 10 === 0 ? `${index} `.repeat(40_000) : `text ${index}`;
      await log.append(slot, [said(text, { id: "record" })]);
      expect(await stateStore.inbox?.read(slot)).toEqual([]);
      const at = new Date().toISOString();
      const entry = { id: "entry", kind: "input", callId: "call", at, body: { index } } as const;
      await stateStore.inbox?.put(slot, entry);
      const namespace = [slot.agentId, slot.userId ?? "anonymous", slot.sessionId];
      expect(await keyValue.get(namespace, slot.sessionId)).toBeNull();
      await keyValue.put(namespace, slot.sessionId, index, { expected: null });
    });
    const again = place.open();
    const refs = new Set<string>();
    await inBatches(slots, async (slot, index) => {
      const records = await again.log.read(slot);
      expect(records.map(({ id }) => id)).toEqual(["record"]);
      const [blob] = records[0]?.blobs ?? [];
      if (blob !== undefined) {
        refs.add(blob.ref);
        expect(await again.log.readBlob(slot, blob.ref)).toBe(`${index} `.repeat(40_000));
      } else expect(JSON.stringify(records[0]?.message)).toContain(`"text ${index}"`);
      const entries = await again.stateStore.inbox?.read(slot);
      expect(entries?.map(({ body }) => body)).toEqual([{ index }]);
      const namespace = [slot.agentId, slot.userId ?? "anonymous", slot.sessionId];
      expect((await again.keyValue.get(namespace, slot.sessionId))?.value).toBe(index);
    });
    // A long text is read by its own session only, also by one that knows its name.
    for (const stranger of slots.filter((_, index) => index % 10 === 1).slice(0, 3))
      for (const ref of refs) expect(await again.log.readBlob(stranger, ref)).toBeNull();
    report(context, { slots: slots.length, pairs: pairsOf(slots.length), "long texts": refs.size });
  },
);

/** Every one of them was written and read beside all the others. */
function pairsOf(count: number): number {
  return (count * (count - 1)) / 2;
}
