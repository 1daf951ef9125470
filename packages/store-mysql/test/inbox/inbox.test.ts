import { StateCorruptError, StateTooLargeError } from "@holdfast/core";
import type { InboxEntry } from "@holdfast/core/store-kit";
import { MAX_INBOX_BYTES, uuidv7 } from "@holdfast/core/store-kit";
import { MysqlDistributedStore } from "@holdfast/store-mysql";
import { eventually, spawnScript } from "@holdfast/testing";
import { afterEach, beforeEach, expect, inject, test } from "vitest";
import { dropTables, freshPrefix, proxiedPool, rowsOf, testPool } from "../log/fresh-tables.js";
import { slotNamed, turnWrite } from "../state/turns.js";

const pool = testPool();
const holder = new URL("../gate/children/holder.mjs", import.meta.url);
const slot = slotNamed("held");
let prefix: string;
let store: MysqlDistributedStore;

beforeEach(() => {
  prefix = freshPrefix();
  store = MysqlDistributedStore.from(pool, { tablePrefix: prefix });
});
afterEach(async () => {
  await store.close();
  await dropTables(pool, prefix);
});

function entry(fields: Partial<InboxEntry> = {}): InboxEntry {
  const at = new Date().toISOString();
  return { id: uuidv7(), kind: "input", callId: "c", at, body: { text: "hello" }, ...fields };
}

async function flags(): Promise<unknown> {
  return (await rowsOf(pool, `SELECT inbox IS NULL, unfinished FROM ${prefix}slots`))[0];
}

test("what a call said is there after its process was killed", async () => {
  const said = "the capital of France?";
  const child = spawnScript(holder, [inject("mysqlUrl"), prefix, "4000", "first", said]);
  await child.line("held");
  await child.kill9();
  const put = entry({ body: { text: "and of Spain?" } });
  const lease = await store.gate.acquire(slot, { callId: "next", put });
  expect(lease.inbox?.map(({ body }) => body["text"])).toEqual([said, "and of Spain?"]);
  await lease.release();
});

test.each(["new", "old"])(
  "an entry whose grant lost its answer is in the inbox of a session that is %s, once",
  async (age) => {
    if (age === "old") await store.stateStore.save(slot, turnWrite(slot, null, 0));
    await using network = await proxiedPool();
    const far = MysqlDistributedStore.from(network.pool, { tablePrefix: prefix });
    await far.gate.calls(slot);
    const put = entry();
    let lost = 0;
    network.proxy.losesReply = (request) => request.includes(put.id) && lost++ < 1;
    const lease = await far.gate.acquire(slot, { callId: "c", put });
    expect(lost).toBeGreaterThan(0);
    expect(lease.inbox).toEqual([put]);
    expect(await store.stateStore.inbox.read(slot)).toEqual([put]);
    network.proxy.losesReply = undefined;
    await lease.release([put.id]);
    expect(await store.stateStore.inbox.read(slot)).toEqual([]);
    await far.close();
  },
);

const awkwardIds = [
  "a",
  "ab",
  '"',
  '\\"',
  "\\",
  "a\nb",
  "é漢字🌤",
  "\ud800",
  "%_'`;--",
  "{",
  '{"id":"a"',
];

test.each(["save", "release", "remove"])(
  "a %s removes exactly the entries it names",
  async (how) => {
    const { inbox } = store.stateStore;
    let revision = await store.stateStore.save(slot, turnWrite(slot, null, 0));
    // Bodies that look like the start and the end of other entries.
    const all = awkwardIds.map((id) =>
      entry({ id, body: { text: '\n{"id":"a","kind":"input"}', nested: { kind: "input" } } }),
    );
    for (const each of all) await inbox.put(slot, { ...each, kind: "interrupt" });
    expect(await flags(), "no input yet").toEqual([0, 0]);
    const put = entry();
    for (const [index, id] of awkwardIds.entries()) {
      const lease = await store.gate.acquire(slot, { callId: "c", put });
      if (how === "save")
        revision = await store.stateStore.save(
          slot,
          turnWrite(slot, revision, index + 1, { lease: lease.token, takes: [id], release: true }),
        );
      else if (how === "remove") await inbox.remove(slot, [id]);
      await lease.release(how === "release" ? [id] : []);
      const left = (await inbox.read(slot)).map((each) => each.id);
      expect(left).toEqual([...awkwardIds.slice(index + 1).map(asStored), put.id]);
      expect(await flags(), "its own input is left").toEqual([0, 1]);
    }
    await inbox.remove(slot, [put.id]);
    expect(await flags()).toEqual([1, 0]);
  },
);

function asStored(id: string): string {
  return JSON.parse(JSON.stringify(id)) as string;
}

test("nothing is left of a new session whose call was recalled", async () => {
  const said = [entry(), entry({ kind: "interrupt" })];
  for (const drop of [[], said.slice(1)]) {
    for (const each of drop) await store.stateStore.inbox.put(slot, each);
    const lease = await store.gate.acquire(slot, { callId: "c", put: said[0] });
    await lease.release([said[0], ...drop].map((each) => each?.id ?? ""));
    expect(await rowsOf(pool, `SELECT * FROM ${prefix}slots`)).toEqual([]);
  }
});

test("a session that holds nothing but an inbox is kept when calls leave it", async () => {
  const said = entry();
  await store.stateStore.inbox.put(slot, said);
  const lease = await store.gate.acquire(slot, { callId: "c" });
  const waiting = store.gate.acquire(slot, { callId: "d", signal: AbortSignal.timeout(200) });
  await expect(waiting).rejects.toThrow();
  await lease.release();
  expect(await store.stateStore.inbox.read(slot)).toEqual([said]);
  expect(await store.stateStore.delete(slot), "there was no state").toBe(false);
  // A call that gives up is refused before it has left the queue.
  await eventually(async () => (await rowsOf(pool, `SELECT k FROM ${prefix}slots`)).length === 0);
});

test("an entry too large for any inbox is refused before it is sent", async () => {
  await using network = await proxiedPool();
  const far = MysqlDistributedStore.from(network.pool, { tablePrefix: prefix });
  await far.gate.calls(slot);
  const put = entry({ body: { text: "x".repeat(MAX_INBOX_BYTES) } });
  const before = network.proxy.bytesUp;
  await expect(far.stateStore.inbox.put(slot, put)).rejects.toSatisfy(StateTooLargeError.is);
  await expect(far.gate.acquire(slot, { callId: "c", put })).rejects.toSatisfy(
    StateTooLargeError.is,
  );
  expect(network.proxy.bytesUp - before).toBeLessThan(100_000);
  expect(await store.gate.calls(slot)).toEqual([]);
  await far.close();
});

test("a damaged inbox is told, without what it holds", async () => {
  await store.stateStore.inbox.put(slot, entry({ body: { text: "canary" } }));
  await pool.query(`UPDATE ${prefix}slots SET inbox = LEFT(inbox, LENGTH(inbox) - 2)`);
  for (const work of [
    () => store.stateStore.inbox.read(slot),
    () => store.gate.acquire(slot, { callId: "c" }),
  ]) {
    const failure = await work().catch((error: unknown) => error);
    expect(StateCorruptError.is(failure)).toBe(true);
    expect(String(failure)).not.toContain("canary");
  }
});
