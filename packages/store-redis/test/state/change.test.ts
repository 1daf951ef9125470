import { type Message, type Revision, type Slot, userMessage } from "@holdfast/core";
import {
  type ChangeLedger,
  changesSince,
  isForked,
  isWhole,
  type LoadAnswer,
  type LoadedState,
  loadWhole,
  MAX_REPLACED,
  messageChange,
  nextRevision,
  REMEMBERED_CHANGES,
  REMEMBERED_OPS,
  revisionSeq,
  type StateChange,
  uuidv7,
  withChange,
} from "@holdfast/core/store-kit";
import fc from "fast-check";
import { expect, test } from "vitest";
import { partKey } from "../../src/keys.js";
import type { RedisAgentStateStore } from "../../src/state/redis-agent-state-store.js";
import { firstWrite, loadState, nextWrite, Stores, slot } from "./stores.js";

const stores = new Stores();

test("another node reads as many bytes after a turn on 5,000 messages as on 10", async () => {
  const read = [];
  for (const count of [10, 5_000]) {
    await using proxy = await stores.proxy();
    const [here, there] = [
      stores.open(),
      stores.open({ url: `redis://${proxy.host}:${proxy.port}` }),
    ];
    const where = { ...slot, sessionId: `of-${count}` };
    await here.save(where, firstWrite(Array.from({ length: count }, (_, at) => `text ${at}`)));
    const known = await loadState(there, where);
    // Connections and scripts are there from the first turn on.
    await (await there.fuses.gate.acquire(slot, { callId: "warm" })).release();
    const write = nextWrite(known, ["a new one"], { replace: [[3, userMessage("replaced")]] });
    await here.save(where, write);
    const before = proxy.bytesUp + proxy.bytesDown;
    const change = asChange(await there.load(where, known.revision));
    const lease = await there.fuses.gate.acquire(where, {
      callId: "c",
      known: () => known.revision,
    });
    read.push(proxy.bytesUp + proxy.bytesDown - before);
    expect(lease.loaded).toEqual(change);
    expect(change.append).toEqual(write.append);
    await lease.release();
  }
  const [small = 0, large = 0] = read;
  expect(Math.abs(large - small)).toBeLessThan(50);
});

test("a save of the release before breaks the way, and the next save begins a new one", async () => {
  const store = stores.open();
  const revisions = [await store.save(slot, firstWrite(["first"]))];
  for (let save = 0; save < REMEMBERED_CHANGES + 5; save++)
    revisions.push(await store.save(slot, nextWrite(await loadState(store), ["more"])));
  const saved = await saveAsBefore(slot, await loadState(store));
  const whole = await loadState(store);
  for (const known of revisions) expect(await store.load(slot, known)).toEqual(whole);
  await store.save(slot, nextWrite(whole, ["the next"]));
  expect(asChange(await store.load(slot, saved))).toMatchObject({ from: saved, keep: 1 });
  const present = await loadState(store);
  for (const known of revisions) expect(await store.load(slot, known)).toEqual(present);
});

test("a state of the release before, which has no ledger, is loaded whole and gets one", async () => {
  const store = stores.open();
  await store.save(slot, firstWrite(["one"]));
  await store.save(slot, nextWrite(await loadState(store), ["two"]));
  const fields = await stores.client.hkeys(stores.key("state"));
  await stores.client.hdel(stores.key("state"), ...fields.filter((field) => /^c/.test(field)));
  const known = await loadState(store);
  expect(isWhole(await store.load(slot, nextRevision(known.revision)))).toBe(true);
  await store.save(slot, nextWrite(known, ["three"]));
  expect(asChange(await store.load(slot, known.revision)).keep).toBe(2);
});

test("the latest changes are remembered, and no change of very many messages", async () => {
  const store = stores.open();
  const texts = Array.from({ length: MAX_REPLACED + 1 }, (_, at) => `text ${at}`);
  const revisions = [await store.save(slot, firstWrite(texts))];
  const save = async (replaced: number) => {
    const loaded = await loadState(store);
    const replace = loaded.messages.slice(0, replaced).map((_, at) => [at, message(at)] as const);
    revisions.push(await store.save(slot, nextWrite(loaded, ["more"], { replace })));
  };
  const message = (at: number) => userMessage(`another ${at}`);
  for (let count = 0; count < REMEMBERED_CHANGES + 20; count++) await save(2);
  const reached = await Promise.all(revisions.map((known) => store.load(slot, known)));
  expect(reached.map(isWhole).lastIndexOf(true)).toBe(19);
  await save(MAX_REPLACED);
  expect(asChange(await store.load(slot, revisions.at(-2) ?? "")).replace).toHaveLength(64);
  await save(MAX_REPLACED + 1);
  expect(isWhole(await store.load(slot, revisions.at(-2) ?? ""))).toBe(true);
  await save(0);
  expect(isWhole(await store.load(slot, revisions.at(-3) ?? ""))).toBe(true);
  expect(asChange(await store.load(slot, revisions.at(-2) ?? "")).append).toHaveLength(1);
});

test("the ledger of the scripts is that of the store kit, from every revision there was", async () => {
  const step = fc.record({
    dropped: fc.nat({ max: 6 }),
    replaced: fc.uniqueArray(fc.nat({ max: 30 }), { maxLength: 30 }),
    appended: fc.nat({ max: 8 }),
    by: fc.constantFrom("this release", "the release before", "an import"),
  });
  const run = fc.record({
    isLeased: fc.boolean(),
    steps: fc.array(step, { minLength: 1, maxLength: 4 }),
  });
  const property = fc.asyncProperty(fc.array(run, { maxLength: 45 }), async (runs) => {
    const store = stores.open();
    const where = { ...slot, sessionId: uuidv7() };
    await store.save(where, firstWrite(["first"]));
    const seen = [await loadState(store, where)];
    let ledger: ChangeLedger = [];
    const saved = new Map<number, Revision>();
    const remember = (revision: Revision) =>
      saved.set(revisionSeq(revision) % REMEMBERED_OPS, revision);
    remember(seen[0]?.revision ?? "");
    for (const { isLeased, steps } of runs) {
      const lease = isLeased ? await store.fuses.gate.acquire(where, { callId: "c" }) : undefined;
      for (const { dropped, replaced, appended, by } of steps) {
        const last = seen.at(-1) as LoadedState;
        if (by === "the release before") {
          await saveAsBefore(where, last);
          seen.push(await loadState(store, where));
          continue;
        }
        const keep = Math.max(last.messages.length - dropped, 0);
        const indexes = replaced.filter((index) => index < keep);
        const write = nextWrite(last, Array(appended).fill("appended"), {
          ...{ keep, lease: lease?.token },
          replace: indexes.map((index) => [index, userMessage("replaced")]),
          // A number that others may have had before.
          ...(by === "an import" && { revision: nextRevision(null) }),
        });
        const to = await store.save(where, write);
        remember(to);
        seen.push(await loadState(store, where));
        const change = { from: last.revision, to, keep, replaced: indexes, lease: lease?.token };
        ledger = withChange(ledger, change);
      }
      await lease?.release();
    }
    for (const { revision } of seen.slice(0, -1)) {
      const remembered = { ledger, saved: [...saved.values()] };
      await expectAnswer(store, where, remembered, revision);
      await expectAnswer(store, where, remembered, `${revisionSeq(revision)}.00`);
    }
    await store.close();
  });
  await fc.assert(property, { numRuns: 30 });
});

/** What the store remembers: the ledger, and the revisions in its ring of ops. */
interface Remembered {
  readonly ledger: ChangeLedger;
  readonly saved: readonly Revision[];
}

/** Compares the answer to a load from a known revision with that of the store kit's ledger. */
async function expectAnswer(
  store: RedisAgentStateStore,
  where: Slot,
  { ledger, saved }: Remembered,
  known: string,
): Promise<void> {
  const present = (await loadWhole(store, where)) as LoadedState;
  const goesBack = changesSince(ledger, known);
  const since = ledger.at(-1)?.to === present.revision ? goesBack : undefined;
  const rolledBack = goesBack === undefined && isForked(ledger, known, saved);
  const { messages, ...rest } = present;
  const expected = since
    ? { ...rest, from: known, ...messageChange<Message>(messages, since) }
    : { ...present, ...(rolledBack && { rolledBack }) };
  expect(await store.load(where, known)).toEqual(expected);
}

/** Replaces all messages by one, as a release without a ledger does: it knows nothing of the fields that others keep. */
async function saveAsBefore(where: Slot, { revision }: LoadedState): Promise<string> {
  const [state, messages] = (["state", "messages"] as const).map((part) =>
    partKey(stores.keyPrefix, where, part),
  ) as [string, string];
  const rev = nextRevision(revision);
  const changed = stores.client.multi().del(messages);
  changed.rpush(messages, JSON.stringify(userMessage("instead"))).hset(state, { rev, n: 1 });
  await changed.exec();
  return rev;
}

function asChange(answer: LoadAnswer): StateChange {
  if (answer === null || answer === "unchanged" || isWhole(answer))
    throw new Error("the store did not answer with what changed");
  return answer;
}
