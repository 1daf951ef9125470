import { inspect } from "node:util";
import {
  type Revision,
  type Slot,
  StateConflictError,
  StoreError,
  UnknownOutcomeError,
} from "@holdfast/core";
import { type LoadedState, saveWithRetry } from "@holdfast/core/store-kit";
import { MysqlDistributedStore } from "@holdfast/store-mysql";
import { eventually } from "@holdfast/testing";
import { privateMariadb } from "@holdfast/testing/servers";
import { createPool } from "mysql2/promise";
import { expect, test } from "vitest";
import { slotNamed, turnWrite } from "./turns.js";

const rounds = process.env["HOLDFAST_LONG"] === "1" ? 100 : 2;

test("a server killed under load and started again has every acknowledged save, whole and once", async () => {
  await using mariadb = await privateMariadb();
  const pool = createPool(mariadb.url);
  const store = MysqlDistributedStore.from(pool, { commandTimeoutMs: 2_000 });
  const slots = [...Array(6).keys()].map((index) => slotNamed(`s${index % 5}`));
  const acknowledged = new Map<string, string[]>(slots.map(({ sessionId }) => [sessionId, []]));
  /** Saves whose answer was lost, and which the other writer of the session has left far behind since. */
  const unknown = new Set<string>();
  let isOver = false;
  let saves = 0;

  const writer = async (slot: Slot): Promise<void> => {
    while (!isOver) {
      const loaded = await load(slot);
      let revision: Revision | null = loaded?.revision ?? null;
      let count = loaded?.messages.length ?? 0;
      let id = "";
      try {
        for (; !isOver; count++) {
          // Now and then the tail is replaced, as after a compaction.
          const keep = count > 20 ? 5 : count;
          const write = turnWrite(slot, revision, keep);
          id = write.append[0]?.id ?? "";
          revision = await saveWithRetry(store.stateStore, slot, write, { deadlineMs: 120_000 });
          acknowledged.get(slot.sessionId)?.push(id);
          count = keep;
          saves++;
        }
      } catch (error) {
        // The first two writers share a session.
        if (UnknownOutcomeError.is(error)) unknown.add(id);
        else if (!StateConflictError.is(error)) throw error;
      }
    }
  };
  const load = (slot: Slot): Promise<LoadedState | null> =>
    eventually(async () => ({ state: (await store.stateStore.load(slot)) as LoadedState | null }), {
      timeoutMs: 60_000,
    }).then(({ state }) => state);

  const writers = slots.map(writer);
  const failed = Promise.all(writers);
  failed.catch(() => undefined);
  for (let round = 0; round < rounds; round++) {
    const target = saves + 40;
    await eventually(() => saves >= target, { timeoutMs: 60_000, intervalMs: 1 });
    await mariadb.process.kill9();
    await mariadb.process.restart();
  }
  const target = saves + 20;
  await eventually(() => saves >= target);
  isOver = true;
  await failed;
  for (const [sessionId, ids] of acknowledged) {
    const slot = slotNamed(sessionId);
    const logged: string[] = [];
    for (let after = 0; ; ) {
      const page = await store.log.read(slot, { after, limit: 500 });
      logged.push(...page.map(({ id }) => id));
      after = page.at(-1)?.seq ?? 0;
      if (page.length === 0) break;
    }
    const known = logged.filter((id) => !unknown.has(id));
    expect([...known].sort(), "every acknowledged record once, and no other").toEqual(
      [...ids].sort(),
    );
    expect(new Set(logged).size, "no record twice").toBe(logged.length);
    const { messages } = (await store.stateStore.load(slot)) as LoadedState;
    expect(messages.at(-1)?.id, "the last save").toBe(logged.at(-1));
    expect(logged).toEqual(expect.arrayContaining(messages.map(({ id }) => id)));
  }
  await store.close();
  await pool.end();
});

test("a server that stands still fails every command in time and in kind, and is used again when it goes on", async () => {
  await using mariadb = await privateMariadb();
  const pool = createPool({ uri: mariadb.url, connectionLimit: 3 });
  const store = MysqlDistributedStore.from(pool, { commandTimeoutMs: 1_500 });
  const { stateStore, log, gate, signals, keyValue } = store;
  const [slot, other] = [slotNamed("s"), slotNamed("other")];
  const revision = await saveWithRetry(stateStore, slot, turnWrite(slot, null, 0));
  const lease = await gate.acquire(other, { callId: "c" });
  mariadb.process.pause();
  const write = turnWrite(slot, revision, 1);
  const commands: Record<string, () => Promise<unknown>> = {
    load: () => stateStore.load(slot),
    "load, known": () => stateStore.load(slot, revision),
    save: () => stateStore.save(slot, write),
    delete: () => stateStore.delete(slotNamed("nobody")),
    list: () => stateStore.list(),
    acquire: () => gate.acquire(slot, { callId: "d" }),
    calls: () => gate.calls(slot),
    send: () => signals.send(slot, "c", { kind: "interrupt" }),
    listen: () => signals.listen(slot, "c", () => undefined),
    append: () => log.append(slot, turnWrite(slot, null, 0).log ?? []),
    read: () => log.read(slot),
    get: () => keyValue.get(["n"], "k"),
    put: () => keyValue.put(["n"], "k", 1),
  };
  const outcomes = await Promise.all(
    Object.entries(commands).map(async ([name, run]) => {
      const failure = await run().then(
        () => "done",
        (error: unknown) => error,
      );
      const kind = StoreError.is(failure) ? failure.errorClass : inspect(failure);
      return [name, kind];
    }),
  );
  for (const [name, kind] of outcomes)
    expect(["UNAVAILABLE", "UNKNOWN_OUTCOME"], `${name}: ${kind}`).toContain(kind);
  // A lease that cannot be given back runs out.
  await lease.release();
  mariadb.process.resume();
  const saved = await saveWithRetry(stateStore, slot, write);
  expect(await stateStore.load(slot, saved)).toBe("unchanged");
  const again = await gate.acquire(slot, { callId: "e" });
  await again.release();
  await store.close();
  await pool.end();
});
