import fc from "fast-check";
import { afterEach, describe, expect, test, vi } from "vitest";
import {
  type AgentStateStore,
  ConfigurationError,
  InvalidIdError,
  InvalidInputError,
  type Message,
  type Slot,
  StateConflictError,
  StateCorruptError,
  StateTooLargeError,
  StateTooNewError,
  StoreUnavailableError,
  UnknownOutcomeError,
  userMessage,
} from "../../src/index.js";
import {
  documentStore,
  type LoadedState,
  loadWhole,
  saveWithRetry,
  slotKey,
} from "../../src/store-kit/index.js";
import { type Fault, MapClient } from "./map-client.js";
import { expectNoTimers } from "./no-timers.js";
import { appendWrite, behavesLikeAList, newSlot } from "./state-writes.js";

const long = process.env["HOLDFAST_LONG"] === "1";

afterEach(() => {
  vi.useRealTimers();
});

async function messagesIn(store: AgentStateStore, slot: Slot): Promise<readonly Message[]> {
  return ((await store.load(slot)) as LoadedState | null)?.messages ?? [];
}

test("random saves, stale saves, repetitions and deletes leave what a list would", async () => {
  await behavesLikeAList(() => documentStore(new MapClient()), long ? 1_000 : 60);
});

test("a document lies under the prefix and the slot's plain key, with the raw ids inside", async () => {
  const client = new MapClient();
  const store = documentStore(client, { keyPrefix: "p:", clock: () => new Date(0) });
  const slot = { agentId: "a/b", userId: "../{x}*", sessionId: "s:1" };
  await store.save(slot, appendWrite(null, 0, [userMessage("hi")]));
  const [key = "", { value = "" } = {}] = [...client.values].at(0) ?? [];
  expect(key).toBe(`p:${slotKey(slot)}`);
  expect(key).toMatch(/^p:[a-z2-7]{52}$/);
  expect(JSON.parse(value)).toMatchObject({ v: 1, slot, updatedAt: "1970-01-01T00:00:00.000Z" });
});

test("ids are checked before the client hears anything", async () => {
  const client = new MapClient();
  const store = documentStore(client);
  const bad = { ...newSlot(), userId: "" };
  await expect(store.load(bad)).rejects.toSatisfy(InvalidIdError.is);
  await expect(store.save(bad, appendWrite(null, 0, []))).rejects.toSatisfy(InvalidIdError.is);
  await expect(store.delete(bad)).rejects.toSatisfy(InvalidIdError.is);
  await expect(store.list({ agentId: "" })).rejects.toSatisfy(InvalidIdError.is);
  expect(client.commands).toEqual([]);
});

test("wrong options are refused when the store is made", () => {
  expect(() => documentStore(new MapClient(), { commandTimeoutMs: 0 })).toThrow(ConfigurationError);
  expect(() => documentStore(new MapClient(), { reach: "galaxy" as never })).toThrow(
    'documentStore: option reach is "galaxy": must be "process", "host" or "distributed"',
  );
});

test("a save that asks for what only a fused store can do is refused, not half done", async () => {
  const client = new MapClient();
  const store = documentStore(client);
  for (const more of [{ lease: "token" }, { release: true }, { log: [] }, { takes: ["i"] }])
    await expect(store.save(newSlot(), appendWrite(null, 0, [], more))).rejects.toSatisfy(
      InvalidInputError.is,
    );
  expect(client.values.size).toBe(0);
});

describe("a damaged document is an error, never an absent state:", () => {
  async function damaged(damage: (document: Record<string, unknown>) => unknown) {
    const client = new MapClient();
    const store = documentStore(client);
    const slot = newSlot();
    await store.save(slot, appendWrite(null, 0, [userMessage("secret words")]));
    const key = slotKey(slot);
    const before = client.values.get(key)?.value ?? "";
    const after = damage(JSON.parse(before));
    const value = typeof after === "string" ? after : JSON.stringify(after);
    client.values.set(key, { value, version: "damaged" });
    return { client, store, slot };
  }

  test.each<[string, (document: Record<string, unknown>) => unknown]>([
    ["empty", () => ""],
    ["cut short", (document) => JSON.stringify(document).slice(0, -1)],
    ["null", () => null],
    ["a list", () => []],
    ["without a version of its form", (document) => ({ ...document, v: undefined })],
    ["without a revision", (document) => ({ ...document, revision: undefined })],
    ["with a head that is a list", (document) => ({ ...document, head: [] })],
    ["without messages", (document) => ({ ...document, messages: undefined })],
    ["with a message that is none", (document) => ({ ...document, messages: [1] })],
    ["with a ledger that is none", (document) => ({ ...document, ops: [["op"]] })],
    ["with call records that are none", (document) => ({ ...document, callRecords: [{}] })],
    ["with facts that are none", (document) => ({ ...document, info: "unfinished" })],
    ["without ids", (document) => ({ ...document, slot: {} })],
    ["another user's", (document) => ({ ...document, slot: { ...newSlot(), userId: "eve" } })],
    ["an anonymous one", (document) => ({ ...document, slot: { ...newSlot(), userId: null } })],
  ])("%s", async (_, damage) => {
    const { store, slot, client } = await damaged(damage);
    const loading = store.load(slot);
    await expect(loading).rejects.toSatisfy(StateCorruptError.is);
    await expect(loading).rejects.not.toThrow(/secret words/);
    await expect(loading).rejects.toThrow(/; restore it from a backup, or remove .* deleteSession/);
    const saving = store.save(slot, appendWrite(null, 0, []));
    await expect(saving).rejects.toSatisfy(StateCorruptError.is);
    expect(client.values.get(slotKey(slot))?.version).toBe("damaged");
  });

  test("one of a newer form says so", async () => {
    const { store, slot } = await damaged((document) => ({ ...document, v: 2 }));
    await expect(store.load(slot)).rejects.toSatisfy(StateTooNewError.is);
  });

  test("it does not hide the other sessions from a listing", async () => {
    const { store } = await damaged(() => "{");
    const slot = newSlot();
    await store.save(slot, appendWrite(null, 0, []));
    expect((await store.list()).slots.map((info) => info.slot)).toEqual([slot]);
  });
});

describe("a client that fails", () => {
  test("on a read makes the store unavailable", async () => {
    const client = new MapClient();
    const store = documentStore(client);
    client.fault = () => "refused";
    await expect(store.load(newSlot())).rejects.toSatisfy(StoreUnavailableError.is);
    await expect(store.list()).rejects.toSatisfy(StoreUnavailableError.is);
    await expect(store.save(newSlot(), appendWrite(null, 0, []))).rejects.toSatisfy(
      StoreUnavailableError.is,
    );
  });

  test.each<Fault>(["refused", "answer lost"])(
    "on a write leaves the outcome unknown (%s), and repeating the save settles it",
    async (fault) => {
      const client = new MapClient();
      const store = documentStore(client);
      const slot = newSlot();
      const write = appendWrite(null, 0, [userMessage("once")]);
      client.fault = (command) => (command === "compareAndSet" ? fault : undefined);
      const failed = store.save(slot, write);
      await expect(failed).rejects.toSatisfy(UnknownOutcomeError.is);
      await expect(failed).rejects.toHaveProperty("cause", expect.any(Error));
      client.fault = () => undefined;
      const revision = await store.save(slot, write);
      expect(await store.load(slot, revision)).toBe("unchanged");
      expect(await messagesIn(store, slot)).toEqual(write.append);
    },
  );

  test("on a delete leaves the outcome unknown", async () => {
    const client = new MapClient();
    client.fault = () => "answer lost";
    const deleting = documentStore(client).delete(newSlot());
    await expect(deleting).rejects.toSatisfy(UnknownOutcomeError.is);
  });

  test("with an error of this library says itself what happened", async () => {
    const client = new MapClient();
    const error = new StateTooLargeError("over 16 MB");
    client.compareAndSet = () => Promise.reject(error);
    await expect(documentStore(client).save(newSlot(), appendWrite(null, 0, []))).rejects.toBe(
      error,
    );
  });

  test("by hanging is waited for 5 s, or as long as the options say", async () => {
    vi.useFakeTimers();
    for (const commandTimeoutMs of [undefined, 40]) {
      const client = new MapClient();
      const store = documentStore(client, { commandTimeoutMs });
      client.fault = (command) => (command === "get" ? "hangs" : undefined);
      const loading = expect(store.load(newSlot())).rejects.toSatisfy(StoreUnavailableError.is);
      await vi.advanceTimersByTimeAsync(commandTimeoutMs ?? 5_000);
      await loading;
      client.fault = (command) => (command === "compareAndSet" ? "hangs" : undefined);
      const saving = store.save(newSlot(), appendWrite(null, 0, []));
      const checked = expect(saving).rejects.toSatisfy(UnknownOutcomeError.is);
      await vi.advanceTimersByTimeAsync(commandTimeoutMs ?? 5_000);
      await checked;
      await expectNoTimers();
    }
  });
});

describe("a race lost inside a save", () => {
  test("is tried again while the revision is still the expected one", async () => {
    const client = new MapClient();
    const store = documentStore(client);
    const slot = newSlot();
    let refusals = 3;
    client.fault = (command) =>
      command === "compareAndSet" && refusals-- > 0 ? "spurious" : undefined;
    const revision = await store.save(slot, appendWrite(null, 0, [userMessage("hi")]));
    expect(await store.load(slot, revision)).toBe("unchanged");
  });

  test("is a conflict when another process saved meanwhile", async () => {
    const client = new MapClient();
    const store = documentStore(client);
    const slot = newSlot();
    const saves = ["a", "b", "c"].map((text) =>
      store.save(slot, appendWrite(null, 0, [userMessage(text)])),
    );
    const settled = await Promise.allSettled(saves);
    const lost = settled.filter((each) => each.status === "rejected");
    expect(lost).toHaveLength(2);
    for (const { reason } of lost) expect(StateConflictError.is(reason)).toBe(true);
    expect(await messagesIn(store, slot)).toHaveLength(1);
  });

  test("ends in an error when the client refuses for ever", async () => {
    const client = new MapClient();
    client.fault = (command) => (command === "compareAndSet" ? "spurious" : undefined);
    const saving = documentStore(client).save(newSlot(), appendWrite(null, 0, []));
    await expect(saving).rejects.toSatisfy(StoreUnavailableError.is);
  });
});

test("with a client that loses requests and answers, every acknowledged turn is there once, in order", async () => {
  const faults = fc.infiniteStream(
    fc.oneof(
      { weight: 6, arbitrary: fc.constant(undefined) },
      fc.constantFrom<Fault>("refused", "answer lost", "late", "spurious"),
    ),
  );
  await fc.assert(
    fc.asyncProperty(faults, async (stream) => {
      const client = new MapClient();
      client.fault = () => stream.next().value;
      const slot = newSlot();
      const acknowledged: string[][] = [[], [], []];
      const writer = async (own: string[], name: number) => {
        const store = documentStore(client);
        for (let turn = 0; turn < 5; ) {
          const loaded = await loadWhole(store, slot).catch(() => "down" as const);
          if (loaded === "down") continue;
          const text = `${name}:${turn}`;
          const write = appendWrite(loaded?.revision ?? null, loaded?.messages.length ?? 0, [
            userMessage(text, { id: text }),
          ]);
          try {
            await saveWithRetry(store, slot, write, { baseDelayMs: 0, deadlineMs: 60_000 });
          } catch (error) {
            expect(StateConflictError.is(error)).toBe(true);
            continue;
          }
          own.push(text);
          turn++;
        }
      };
      await Promise.all(acknowledged.map(writer));
      await new Promise((resolve) => setImmediate(resolve));
      client.fault = () => undefined;
      const ids = (await messagesIn(documentStore(client), slot)).map(({ id }) => id);
      expect(ids).toHaveLength(15);
      for (const [name, own] of acknowledged.entries())
        expect(ids.filter((id) => id.startsWith(`${name}:`))).toEqual(own);
    }),
    { numRuns: long ? 500 : 15 },
  );
});

describe("a listing", () => {
  async function listAll(store: AgentStateStore, limit: number, userId?: string | null) {
    const slots: Slot[] = [];
    let cursor: string | undefined;
    do {
      const page = await store.list({ limit, cursor, userId });
      expect(page.slots.length).toBeLessThanOrEqual(limit);
      slots.push(...page.slots.map((info) => info.slot));
      cursor = page.cursor;
    } while (cursor !== undefined);
    return slots;
  }

  test("is newest first, over pages of any size, and only of whom was asked for", async () => {
    let now = 0;
    const client = new MapClient();
    client.pageSize = 3;
    const store = documentStore(client, { keyPrefix: "p:", clock: () => new Date(now++) });
    client.values.set("p:foreign", { value: "not ours", version: "1" });
    client.values.set("other", { value: "not ours", version: "1" });
    const slots: Slot[] = [];
    for (let index = 0; index < 12; index++) {
      const slot = { agentId: "a", userId: index % 3 === 0 ? null : "u", sessionId: `s${index}` };
      await store.save(slot, appendWrite(null, 0, []));
      slots.unshift(slot);
    }
    for (const limit of [1, 5, 12, 100]) {
      expect(await listAll(store, limit)).toEqual(slots);
      expect(await listAll(store, limit, null)).toEqual(
        slots.filter((slot) => slot.userId === null),
      );
    }
    expect(await listAll(store, 5, "nobody")).toEqual([]);
    expect((await store.list({ limit: 12 })).cursor).toBeUndefined();
  });

  test("goes over more sessions than it reads at once, each exactly once", async () => {
    const client = new MapClient();
    client.pageSize = 700;
    const store = documentStore(client);
    const names = Array.from({ length: 2_500 }, (_, index) => `s${index}`);
    for (const sessionId of names)
      await store.save({ ...newSlot(), sessionId }, appendWrite(null, 0, []));
    const listed = (await listAll(store, 900)).map(({ sessionId }) => sessionId);
    expect(listed.sort()).toEqual(names.sort());
  });

  test("goes over blocks of sessions that are saved meanwhile, and misses none", async () => {
    let now = 0;
    const client = new MapClient();
    client.pageSize = 700;
    const store = documentStore(client, { clock: () => new Date(now++) });
    const slots = Array.from({ length: 1_600 }, () => newSlot());
    const revisions = new Map<Slot, string>();
    const save = async (slot: Slot) => {
      const before = revisions.get(slot) ?? null;
      revisions.set(slot, await store.save(slot, appendWrite(before, 0, [])));
    };
    for (const slot of slots) await save(slot);
    const seen = new Set<string>();
    let cursor: string | undefined;
    do {
      const page = await store.list({ limit: 300, cursor });
      for (const { slot } of page.slots) seen.add(slot.sessionId);
      const missing = slots.filter(({ sessionId }) => !seen.has(sessionId));
      for (const slot of [...missing.slice(0, 40), ...missing.slice(-40)]) await save(slot);
      cursor = page.cursor;
    } while (cursor !== undefined);
    expect(seen.size).toBe(slots.length);
  });

  test("goes on from a cursor of the release before, and misses none", async () => {
    let now = 0;
    const client = new MapClient();
    const store = documentStore(client, { clock: () => new Date(now++) });
    const slots = Array.from({ length: 6 }, () => newSlot());
    for (const slot of slots) await store.save(slot, appendWrite(null, 0, [], { op: "op" }));
    const after = [new Date(3).toISOString(), "op", slotKey(slots[3] as Slot)];
    const old = Buffer.from(JSON.stringify({ keys: null, after })).toString("base64url");
    const { slots: page } = await store.list({ cursor: old });
    expect(page.slice(0, 3).map(({ slot }) => slot)).toEqual(slots.slice(0, 3).reverse());
  });

  test("of a page whose sessions are all another user's goes on to the next keys", async () => {
    const client = new MapClient();
    client.pageSize = 1_000;
    const store = documentStore(client);
    for (let index = 0; index < 1_500; index++)
      await store.save({ ...newSlot(), userId: "many" }, appendWrite(null, 0, []));
    const keys = [...client.values.keys()].sort();
    let slot = newSlot();
    while (slotKey(slot) < (keys.at(1_100) ?? "")) slot = newSlot();
    await store.save(slot, appendWrite(null, 0, []));
    expect((await store.list({ userId: "user" })).slots.map((info) => info.slot)).toEqual([slot]);
  });

  test("of few among very many ends a page early, and its cursor leads on to them", async () => {
    const client = new MapClient();
    const store = documentStore(client);
    await store.save(newSlot(), appendWrite(null, 0, []));
    const [template] = [...client.values.values()];
    const finished = JSON.parse(template?.value ?? "{}");
    for (let index = 0; index < 12_500; index++) {
      const slot = newSlot();
      client.values.set(slotKey(slot), {
        value: JSON.stringify({ ...finished, slot, info: { unfinished: index % 6_000 === 0 } }),
        version: "1",
      });
    }
    let pages = 0;
    let most = 0;
    const found: Slot[] = [];
    let cursor: string | undefined;
    do {
      client.commands.length = 0;
      const page = await store.list({ unfinished: true, userId: "nobody", cursor });
      most = Math.max(most, client.commands.length);
      found.push(...page.slots.map(({ slot }) => slot));
      cursor = page.cursor;
      pages++;
    } while (cursor !== undefined);
    expect({ pages, found }).toEqual({ pages: 2, found: [] });
    expect(most).toBeLessThanOrEqual(10 * 1_001);
    do {
      const page = await store.list({ unfinished: true, limit: 1, cursor });
      found.push(...page.slots.map(({ slot }) => slot));
      cursor = page.cursor;
    } while (cursor !== undefined);
    expect(found).toHaveLength(3);
  });

  test("leaves out a document that lies under another session's key", async () => {
    const client = new MapClient();
    const store = documentStore(client);
    const slot = newSlot();
    await store.save(slot, appendWrite(null, 0, []));
    const value = client.values.get(slotKey(slot))?.value ?? "";
    client.values.set(slotKey(newSlot()), { value, version: "planted" });
    expect((await store.list()).slots.map((info) => info.slot)).toEqual([slot]);
  });

  test("refuses a cursor it did not give", async () => {
    const store = documentStore(new MapClient());
    for (const cursor of ["", "x", "bnVsbA", Buffer.from('{"keys":1}').toString("base64url")])
      await expect(store.list({ cursor })).rejects.toThrow(/; leave the cursor out to begin anew$/);
  });
});
