import { textOf } from "@holdfast/core";
import { loadWhole } from "@holdfast/core/store-kit";
import { scaled, spawnScript } from "@holdfast/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { newPlace, type StorePlace, sharedStores } from "./every-store.js";

const isLong = process.env["HOLDFAST_LONG"] === "1";
const processes = isLong ? 8 : 2;
const writers = isLong ? 8 : 4;
const appends = isLong ? 157 : 5;
/** Each session has writers in several processes. */
const sessions = isLong ? 16 : 2;
const timeout = 3_600_000;

/** Lets all writers append to the sessions they share; the number of conflicts on the way. */
async function write(place: StorePlace, options: object = {}): Promise<number> {
  const nodes = Array.from({ length: processes }, (_, index) =>
    spawnScript(new URL("writer-node.mjs", import.meta.url), [
      JSON.stringify(place.choice),
      JSON.stringify({ first: index * writers, writers, sessions, appends, ...options }),
    ]),
  );
  const ends = await Promise.all(
    nodes.map((node) => node.line((line) => line.startsWith("done "), timeout)),
  );
  for (const node of nodes) expect(await node.exited).toMatchObject({ code: 0 });
  return ends.reduce((sum, line) => sum + Number(line.split(" ")[1]), 0);
}

/** The texts of a session, in order. */
async function textsIn(place: StorePlace, session: number): Promise<string[]> {
  const slot = { agentId: "a", userId: "u", sessionId: `s${session}` };
  const loaded = await loadWhole(place.open().stateStore, slot);
  return loaded === null ? [] : loaded.messages.map(textOf);
}

describe.each(scaled(["mysql"], sharedStores))("on %s", (kind) => {
  test(`${processes * writers} writers in ${processes} processes with ${appends} appends each lose, double and reorder nothing`, {
    timeout,
  }, async () => {
    const place = await newPlace(kind, 30_000);
    onTestFinished(() => place[Symbol.asyncDispose]());
    const conflicts = await write(place);
    let found = 0;
    for (let session = 0; session < sessions; session++) {
      const texts = await textsIn(place, session);
      found += texts.length;
      for (let writer = session; writer < processes * writers; writer += sessions)
        expect(texts.filter((text) => text.startsWith(`${writer}:`))).toEqual(
          Array.from({ length: appends }, (_, n) => `${writer}:${n}`),
        );
    }
    expect(found).toBe(processes * writers * appends);
    expect(conflicts).toBeGreaterThan(0);
  });
});

// Shows that the test above would notice.
describe.each(scaled(["files"], sharedStores))("on %s", (kind) => {
  test("the same writers lose turns where they overwrite what they did not expect", {
    timeout,
  }, async () => {
    const place = await newPlace(kind, 30_000);
    onTestFinished(() => place[Symbol.asyncDispose]());
    await write(place, { isCareless: true, appends: 20 });
    const texts = await Promise.all(
      Array.from({ length: sessions }, (_, session) => textsIn(place, session)),
    );
    expect(new Set(texts.flat()).size).toBeLessThan(processes * writers * 20);
  });
});
