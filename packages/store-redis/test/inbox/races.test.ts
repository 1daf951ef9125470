import { eventually, spawnScript } from "@holdfast/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { firstWrite, Stores, slot } from "../state/stores.js";
import { inputEntry } from "./sample-entries.js";

const stores = new Stores();

test("an entry is there exactly when its call was granted and neither saved nor recalled, whatever the order", async () => {
  const call = fc.record({
    node: fc.nat({ max: 1 }),
    isLarge: fc.boolean(),
    givesUpAfter: fc.option(fc.nat({ max: 8 }), { freq: 2 }),
    ends: fc.constantFrom("takes", "drops", "dies"),
  });
  const yields = async (count: number): Promise<void> => {
    for (let done = 0; done < count; done++) await new Promise(setImmediate);
  };
  const nodes = [stores.open(), stores.open()] as const;
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 8 }), async (calls) => {
      const where = { ...slot, sessionId: `run-${run++}` };
      const left = new Set<string>();
      let messages = 0;
      await Promise.all(
        calls.map(async ({ node, isLarge, givesUpAfter, ends }, index) => {
          const { fuses } = nodes[node === 0 ? 0 : 1];
          const leaving = new AbortController();
          if (givesUpAfter !== null) void yields(givesUpAfter).then(() => leaving.abort("left"));
          const put = inputEntry(`e-${index}`, isLarge ? "x".repeat(66_000) : "small");
          const request = { callId: `c-${index}`, put, signal: leaving.signal };
          const lease = await fuses.gate.acquire(where, request).catch((reason: unknown) => {
            expect(reason).toBe("left");
            return null;
          });
          if (lease === null) return;
          // In the order of the grants: what earlier holders left, then its own.
          expect(lease.inbox?.map(({ id }) => id)).toEqual([...left, put.id]);
          left.add(put.id);
          if (ends === "drops") {
            left.delete(put.id);
            await lease.release([put.id]);
          } else if (ends === "dies") await lease.release();
          else {
            const { loaded } = lease;
            const expected = loaded && loaded !== "unchanged" ? loaded.revision : null;
            const takes = [...left];
            left.clear();
            await nodes[node === 0 ? 0 : 1].save(where, {
              ...firstWrite([put.id], { expected, keep: messages++, takes }),
              ...{ lease: lease.token, release: true },
            });
          }
        }),
      );
      const { inbox, fuses } = nodes[0];
      // Those that gave up withdraw in the background.
      await eventually(async () => (await fuses.gate.calls(where)).length === 0);
      await eventually(async () => (await inbox.read(where)).length <= left.size);
      expect((await inbox.read(where)).map(({ id }) => id)).toEqual([...left]);
    }),
    { numRuns: process.env["HOLDFAST_LONG"] === "1" ? 500 : 40 },
  );
});

test("the words of a killed process reach the next holder, and the session is listed as unfinished", async () => {
  const leaseMs = 2_500;
  const store = stores.open({ leaseMs });
  await store.save(slot, firstWrite(["one"], { info: { unfinished: false } }));
  const script = new URL("./children/speaker.mjs", import.meta.url);
  await using speaker = spawnScript(script, [stores.url, stores.keyPrefix, String(leaseMs)]);
  await speaker.line("said");
  await speaker.kill9();
  const unfinished = async () => (await store.list({ unfinished: true })).slots;
  expect((await unfinished()).map(({ info }) => info)).toEqual([{ unfinished: true }]);
  const lease = await store.fuses.gate.acquire(slot, { callId: "next", put: inputEntry("e-2") });
  expect(lease.inbox?.map(({ body }) => body)).toEqual([{ text: "words" }, { text: "e-2" }]);
  await lease.release(["e-1", "e-2"]);
  expect(await unfinished()).toEqual([]);
});
