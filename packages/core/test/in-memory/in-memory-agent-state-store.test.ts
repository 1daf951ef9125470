import { describe, expect, test } from "vitest";
import {
  AgentState,
  ConfigurationError,
  InMemoryAgentStateStore,
  InvalidIdError,
  InvalidInputError,
  LeaseLostError,
  type SessionGate,
  type Slot,
  StateConflictError,
  userMessage,
} from "../../src/index.js";
import type { Lease, LoadedState, LogDraft } from "../../src/store-kit/index.js";
import { appendWrite, behavesLikeAList, newSlot } from "../store-kit/state-writes.js";

const long = process.env["HOLDFAST_LONG"] === "1";

function draft(id: string): LogDraft {
  return {
    v: 1,
    id,
    callId: "c",
    at: "2026-01-01T00:00:00.000Z",
    kind: "mark",
    mark: { name: id },
  };
}

function fusedGate(store: InMemoryAgentStateStore): SessionGate {
  const gate = store.fuses?.gate;
  if (gate === undefined) throw new Error("the store should fuse its gate");
  return gate;
}

async function loggedIds(store: InMemoryAgentStateStore, slot: Slot): Promise<string[]> {
  return (await store.companions().log.read(slot)).map(({ id }) => id);
}

test("random saves, stale saves, repetitions and deletes leave what a list would", async () => {
  await behavesLikeAList(() => new InMemoryAgentStateStore(), long ? 2_000 : 60);
});

test("nobody holds a reference into the store: not the writer, not a reader", async () => {
  const store = new InMemoryAgentStateStore();
  const slot = newSlot();
  const head = { list: [1] };
  const message = JSON.parse(JSON.stringify(userMessage("hi")));
  await store.save(slot, appendWrite(null, 0, [message], { head }));
  head.list.push(2);
  message.content[0].text = "changed";
  const first = (await store.load(slot)) as unknown as {
    head: { list: number[] };
    messages: unknown[];
  };
  expect(first).toMatchObject({ head: { list: [1] }, messages: [{ content: [{ text: "hi" }] }] });
  first.head.list.push(3);
  first.messages.pop();
  expect(await store.load(slot)).toMatchObject({ head: { list: [1] }, messages: [{}] });
});

test("what JSON does not keep is not kept, and what it keeps comes back: undefined, __proto__, lone surrogates", async () => {
  const store = new InMemoryAgentStateStore();
  const slot = newSlot();
  const text = '{"__proto__":{"isAdmin":true},"lone":"\\ud800"}';
  await store.save(
    slot,
    appendWrite(null, 0, [], { head: { ...JSON.parse(`{"x":${text}}`), gone: undefined } }),
  );
  const loaded = (await store.load(slot)) as LoadedState;
  expect(JSON.stringify(loaded.head)).toBe(`{"x":${text}}`);
  expect(({} as Record<string, unknown>)["isAdmin"]).toBeUndefined();
});

test("a state saved by its deltas is the state that was edited", async () => {
  const store = new InMemoryAgentStateStore();
  const slot = newSlot();
  const state = AgentState.create(slot);
  let revision: string | null = null;
  const save = async () => {
    revision = await store.save(slot, {
      op: crypto.randomUUID(),
      expected: revision,
      head: state.head(),
      ...state.contextDelta(),
    });
    state.markSaved();
  };
  state.contextMutable().push(userMessage("1"), userMessage("2"), userMessage("3"));
  await save();
  state.contextMutable().replace(1, userMessage("two"));
  state.contextMutable().push(userMessage("4"));
  await save();
  state.contextMutable().splice(0, 2);
  state.summary = "so far";
  await save();
  const loaded = AgentState.fromParts((await store.load(slot)) as LoadedState);
  expect(loaded.toJSON()).toEqual(JSON.parse(state.toJson()));
});

test("ids are checked by every command", async () => {
  const store = new InMemoryAgentStateStore();
  const bad = { ...newSlot(), sessionId: "\ud800" };
  for (const run of [
    () => store.load(bad),
    () => store.save(bad, appendWrite(null, 0, [])),
    () => store.delete(bad),
    () => fusedGate(store).acquire(bad, { callId: "c" }),
    () => store.list({ userId: "" }),
  ])
    await expect(run()).rejects.toSatisfy(InvalidIdError.is);
});

test("companions are the same objects every time, and the fused parts are among them", () => {
  const store = new InMemoryAgentStateStore();
  const companions = store.companions();
  expect(store.companions()).toBe(companions);
  expect(companions.stateStore).toBe(store);
  expect(store.fuses?.gate).toBe(companions.gate);
  expect(store.fuses?.log).toBe(companions.log);
});

test("closing takes nothing away", async () => {
  const store = new InMemoryAgentStateStore();
  const slot = newSlot();
  await store.save(slot, appendWrite(null, 0, []));
  await store.close();
  await store.close();
  expect(await store.load(slot)).not.toBeNull();
});

test("wrong options are refused", () => {
  expect(() => new InMemoryAgentStateStore({ fused: "yes" as never })).toThrow(ConfigurationError);
  expect(() => new InMemoryAgentStateStore({ clock: 5 as never })).toThrow(/a function/);
});

describe("the fused gate", () => {
  test("gives the state with the lease: absent, loaded, or unchanged when it is the known one", async () => {
    const store = new InMemoryAgentStateStore();
    const slot = newSlot();
    const gate = fusedGate(store);
    const first = await gate.acquire(slot, { callId: "1" });
    expect(first.loaded).toBeNull();
    const revision = await store.save(slot, appendWrite(null, 0, [userMessage("hi")]));
    await first.release();
    const second = await gate.acquire(slot, { callId: "2", known: () => "1.other" });
    expect(second.loaded).toEqual(await store.load(slot, "1.other"));
    await second.release();
    const third = await gate.acquire(slot, { callId: "3", known: () => revision });
    expect(third.loaded).toBe("unchanged");
    expect(third.lost.aborted).toBe(false);
    await third.release();
    expect(await gate.calls(slot)).toEqual([]);
  });

  test("loads when the turn comes, not when the wait begins, and asks only then what is known", async () => {
    const store = new InMemoryAgentStateStore();
    const slot = newSlot();
    const gate = fusedGate(store);
    const holder = await gate.acquire(slot, { callId: "holder" });
    let known: string | undefined;
    const next = gate.acquire(slot, { callId: "next", known: () => known });
    known = await store.save(
      slot,
      appendWrite(null, 0, [], { lease: holder.token, release: true }),
    );
    expect((await next).loaded).toBe("unchanged");
  });
});

test("an entry is in the inbox from the very step that grants its lease", async () => {
  const store = new InMemoryAgentStateStore();
  const slot = newSlot();
  const put = {
    id: "entry",
    kind: "input",
    callId: "next",
    at: "2026-01-01T00:00:00.000Z",
    body: {},
  } as const;
  const holder = await fusedGate(store).acquire(slot, { callId: "holder" });
  const next = fusedGate(store).acquire(slot, { callId: "next", put });
  expect(await store.inbox.read(slot)).toEqual([]);
  // Not awaited: the grant is a part of the release, before anything else can run.
  const released = holder.release();
  const [calls, entries] = [fusedGate(store).calls(slot), store.inbox.read(slot)];
  expect([await calls, await entries]).toEqual([["next"], [put]]);
  await released;
  await (await next).release();
});

describe("a fused save", () => {
  async function running(): Promise<{ store: InMemoryAgentStateStore; slot: Slot; lease: Lease }> {
    const store = new InMemoryAgentStateStore();
    const slot = newSlot();
    return { store, slot, lease: await fusedGate(store).acquire(slot, { callId: "call" }) };
  }

  test("writes state and log and gives the lease back in one step", async () => {
    const { store, slot, lease } = await running();
    const next = fusedGate(store).acquire(slot, { callId: "next" });
    const write = appendWrite(null, 0, [], {
      lease: lease.token,
      release: true,
      log: [draft("a")],
    });
    await store.save(slot, write);
    expect(await loggedIds(store, slot)).toEqual(["a"]);
    expect(await fusedGate(store).calls(slot)).toEqual(["next"]);
    await next;
    await lease.release();
    expect(await fusedGate(store).calls(slot)).toEqual(["next"]);
  });

  test("without release keeps the lease", async () => {
    const { store, slot, lease } = await running();
    await store.save(slot, appendWrite(null, 0, [], { lease: lease.token }));
    expect(await fusedGate(store).calls(slot)).toEqual(["call"]);
  });

  test("that conflicts writes nothing, logs nothing and keeps the lease", async () => {
    const { store, slot, lease } = await running();
    const write = appendWrite("1.stale", 0, [], {
      lease: lease.token,
      release: true,
      log: [draft("a")],
    });
    await expect(store.save(slot, write)).rejects.toSatisfy(StateConflictError.is);
    expect(await store.load(slot)).toBeNull();
    expect(await loggedIds(store, slot)).toEqual([]);
    expect(await fusedGate(store).calls(slot)).toEqual(["call"]);
  });

  test("with a record no log can keep writes nothing at all", async () => {
    const { store, slot, lease } = await running();
    const bad = { ...draft("b"), kind: "message" as const };
    const write = appendWrite(null, 0, [], {
      lease: lease.token,
      release: true,
      log: [draft("a"), bad],
    });
    await expect(store.save(slot, write)).rejects.toSatisfy(InvalidInputError.is);
    expect(await store.load(slot)).toBeNull();
    expect(await loggedIds(store, slot)).toEqual([]);
    expect(await fusedGate(store).calls(slot)).toEqual(["call"]);
  });

  test("of a holder whose lease has ended is refused, also when its revision is right", async () => {
    const { store, slot, lease } = await running();
    await lease.release();
    const stale = appendWrite(null, 0, [], { lease: lease.token, log: [draft("a")] });
    await expect(store.save(slot, stale)).rejects.toSatisfy(LeaseLostError.is);
    const other = await fusedGate(store).acquire(slot, { callId: "other" });
    await expect(store.save(slot, stale)).rejects.toSatisfy(LeaseLostError.is);
    expect(await store.load(slot)).toBeNull();
    expect(await loggedIds(store, slot)).toEqual([]);
    await store.save(slot, appendWrite(null, 0, [], { lease: other.token }));
  });

  test("repeated after it gave the lease back is recognised and disturbs nobody", async () => {
    const { store, slot, lease } = await running();
    const write = appendWrite(null, 0, [], {
      lease: lease.token,
      release: true,
      log: [draft("a")],
    });
    const revision = await store.save(slot, write);
    await fusedGate(store).acquire(slot, { callId: "next" });
    expect(await store.save(slot, write)).toBe(revision);
    expect(await loggedIds(store, slot)).toEqual(["a"]);
    expect(await fusedGate(store).calls(slot)).toEqual(["next"]);
  });
});

describe("without fusing", () => {
  const store = new InMemoryAgentStateStore({ fused: false });

  test("the gate loads nothing and the store claims nothing", async () => {
    expect(store.fuses).toBeUndefined();
    const lease = await store.companions().gate.acquire(newSlot(), { callId: "c" });
    expect(lease.loaded).toBeUndefined();
    expect(lease.inbox).toBeUndefined();
  });

  test("a save with a lease, a release or log records is refused", async () => {
    for (const more of [
      { lease: "token" },
      { release: true },
      { log: [draft("a")] },
      { takes: ["i"] },
    ])
      await expect(store.save(newSlot(), appendWrite(null, 0, [], more))).rejects.toSatisfy(
        InvalidInputError.is,
      );
  });
});

describe("a listing", () => {
  async function filled(count: number) {
    const store = new InMemoryAgentStateStore({ clock: () => new Date(0) });
    const slots: Slot[] = [];
    const save = async (slot: Slot) => {
      const loaded = (await store.load(slot)) as LoadedState | null;
      await store.save(slot, appendWrite(loaded?.revision ?? null, 0, [userMessage("hi")]));
    };
    for (let index = 0; index < count; index++) {
      const slot = {
        agentId: `a${index % 2}`,
        userId: index % 3 ? "u" : null,
        sessionId: `s${index}`,
      };
      slots.unshift(slot);
      await save(slot);
    }
    return { store, slots, save };
  }

  test("is newest first by save, also within one tick of the clock", async () => {
    const { store, slots, save } = await filled(5);
    expect((await store.list()).slots).toEqual(
      slots.map((slot) => ({ slot, updatedAt: "1970-01-01T00:00:00.000Z", messages: 1 })),
    );
    await save(slots[3] as Slot);
    expect((await store.list()).slots[0]?.slot).toEqual(slots[3]);
  });

  test("goes over pages, and only over what was asked for", async () => {
    const { store, slots } = await filled(13);
    const query = { agentId: "a1", userId: "u" };
    const listed: Slot[] = [];
    let cursor: string | undefined;
    do {
      const page = await store.list({ ...query, limit: 2, cursor });
      listed.push(...page.slots.map((info) => info.slot));
      cursor = page.cursor;
    } while (cursor !== undefined);
    expect(listed).toEqual(slots.filter((slot) => slot.agentId === "a1" && slot.userId === "u"));
  });

  test("under way misses nothing that was there all the time, whatever is saved or deleted, and ends", async () => {
    const { store, slots, save } = await filled(20);
    const seen: string[] = [];
    let cursor: string | undefined;
    let turn = 0;
    do {
      const page = await store.list({ limit: 4, cursor });
      seen.push(...page.slots.map((info) => info.slot.sessionId));
      await save(slots[19 - (turn % 3)] as Slot);
      await save({ ...newSlot(), sessionId: `new-${turn}` });
      if (turn < 3) await store.delete(slots[turn] as Slot);
      cursor = page.cursor;
      turn++;
    } while (cursor !== undefined);
    const names = (some: Slot[]) => some.map(({ sessionId }) => sessionId);
    expect(seen).toEqual(expect.arrayContaining(names(slots.slice(3))));
    const untouched = seen.filter((name) => names(slots.slice(3, 17)).includes(name));
    expect(untouched).toEqual(names(slots.slice(3, 17)));
  });

  test("shows a session saved under way at most twice, and none that was made under way", async () => {
    const { store, slots, save } = await filled(10);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await store.list({ limit: 3, cursor });
      seen.push(...page.slots.map((info) => info.slot.sessionId));
      for (const slot of slots) await save(slot);
      await save(newSlot());
      cursor = page.cursor;
    } while (cursor !== undefined);
    const counts = slots.map(({ sessionId }) => seen.filter((name) => name === sessionId).length);
    expect(counts).toEqual([2, 2, 2, 1, 1, 1, 1, 1, 1, 1]);
    expect(seen).toHaveLength(13);
  });

  test("refuses a cursor that is none and a limit that is none", async () => {
    const { store } = await filled(1);
    await expect(store.list({ cursor: "x" })).rejects.toSatisfy(InvalidInputError.is);
    await expect(store.list({ cursor: "x" })).rejects.toThrow(
      /leave the cursor out to begin anew$/,
    );
    await expect(store.list({ limit: 0 })).rejects.toSatisfy(InvalidInputError.is);
  });
});

test("a delta save serialises what changed, not what exists", async () => {
  const store = new InMemoryAgentStateStore();
  const slot = newSlot();
  const old = Array.from({ length: 50 }, (_, index) => userMessage(`old ${index}`));
  const revision = await store.save(slot, appendWrite(null, 0, old));
  let serialised = 0;
  const counted = {
    ...userMessage("new"),
    toJSON() {
      serialised++;
      return { id: "n", role: "user", content: [], createdAt: "" };
    },
  };
  const next = await store.save(slot, appendWrite(revision, 50, [counted]));
  await store.save(slot, appendWrite(next, 51, []));
  expect(serialised).toBe(1);
  expect((await store.load(slot)) as LoadedState).toMatchObject({ messages: { length: 51 } });
});
