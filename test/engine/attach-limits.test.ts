import { setImmediate as immediate } from "node:timers/promises";
import type { AgentEvent, EventFeed, ReActAgentOptions } from "@holdfast/core";
import { InMemoryAgentStateStore, ReActAgent, StoreUnavailableError, tool } from "@holdfast/core";
import { type FeedBatch, InMemoryEventFeed } from "@holdfast/core/store-kit";
import { eventually, scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { DictatedModel, faultyFeed, readAll, said } from "./feeds.js";
import { finish, modelOf } from "./models.js";

const ctx = { userId: "u", sessionId: "s", callId: "c" };

function agentOn(eventFeed: EventFeed, model: ReActAgentOptions["model"]) {
  const events: AgentEvent[] = [];
  const onEvent = (event: AgentEvent) => void events.push(event);
  const agent = new ReActAgent({ name: "a", model, eventFeed, onEvent });
  return { agent, events };
}

describe("a feed that fails", () => {
  const never = () => new Promise<void>(() => {});

  test.each([
    ["hangs", never],
    [
      "is away",
      () => {
        throw new StoreUnavailableError("away");
      },
    ],
  ])("and %s does not fail the call, and is not waited for again", async (_, fault) => {
    let looks = 0;
    const feed = faultyFeed(new InMemoryEventFeed(), (command) => {
      if (command === "read") looks++;
      return fault();
    });
    const { agent, events } = agentOn(feed, scriptedModel(["one", "two", "three"]));
    expect((await agent.call("hi", { userId: "u", sessionId: "s" })).text).toBe("one");
    expect((await agent.call("hi", ctx)).text).toBe("two");
    expect((await agent.call("hi", { ...ctx, callId: "d" })).text).toBe("three");
    expect(events.filter(({ type }) => type === "call_end")).toHaveLength(3);
    expect(looks).toBe(1);
  });

  test("and is back brings what it missed, as long as that is not too much", async () => {
    let isAway = false;
    let refused = 0;
    const feed = faultyFeed(new InMemoryEventFeed(), (command) => {
      if (!isAway) return;
      if (command === "append") refused++;
      throw new StoreUnavailableError("away");
    });
    const dictated = new DictatedModel();
    const { agent, events } = agentOn(feed, dictated.model);
    const call = agent.call("hi", ctx);
    const run = await eventually(() => agent.attach(ctx));
    const reading = readAll(run);
    isAway = true;
    dictated.say("not ", "lost");
    await eventually(() => said(events) === "not lost" && refused > 0);
    isAway = false;
    dictated.end();
    await call;
    expect(await reading).toEqual(events);
  });

  test("for too long leaves a gap, which readers are told of", async () => {
    let isAway = true;
    const feed = faultyFeed(new InMemoryEventFeed(), (command) => {
      if (isAway && command === "append") throw new StoreUnavailableError("away");
    });
    const dictated = new DictatedModel();
    const { agent, events } = agentOn(feed, dictated.model);
    const call = agent.call("hi", ctx);
    for (let megabyte = 0; megabyte < 3; megabyte++) {
      dictated.say("x".repeat(1_048_577));
      await eventually(() => said(events).length >= (megabyte + 1) * 1_048_577);
    }
    isAway = false;
    dictated.say("the end");
    dictated.end();
    await call;
    const read = await eventually(async () => {
      const found = await readAll(await agent.attach(ctx, { callId: "c" }));
      return found.at(-1)?.type === "call_end" && found;
    });
    const gaps = (read || []).filter((event) => event.type === "events_dropped");
    expect(gaps.length).toBeGreaterThan(0);
    const missing = gaps.reduce((sum, { count }) => sum + count, 0);
    expect((read || []).length - gaps.length + missing).toBe(events.length);
    expect((read || []).at(-1)?.seq).toBe(events.at(-1)?.seq);
  });
});

test("a feed that is slow gets everything, also what comes after a pause", async () => {
  const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
  const inner = new InMemoryEventFeed();
  const feed: EventFeed = {
    ...faultyFeed(inner, () => undefined),
    append: async (slot, callId, batch) => {
      if (batch.body.length > 4_096) await pause(80);
      return inner.append(slot, callId, batch);
    },
  };
  const dictated = new DictatedModel();
  const { agent, events } = agentOn(feed, dictated.model);
  const call = agent.call("hi", ctx);
  const reading = readAll(await eventually(() => agent.attach(ctx)));
  for (let part = 0; part < 5; part++) {
    // Two pieces while the first is on its way: the timer of the second finds that both have gone.
    dictated.say("x".repeat(5_000));
    await pause(5);
    dictated.say("and a little ");
    await pause(65);
    dictated.say("more");
    await pause(150);
  }
  dictated.say("the end");
  dictated.end();
  await call;
  expect(await reading).toEqual(events);
});

test("a feed that is full drops the oldest events, and a reader is told how many", async () => {
  const feed = new InMemoryEventFeed({ maxChars: 20_000 });
  const { agent, events } = agentOn(feed, scriptedModel([{ text: "word ".repeat(20_000) }]));
  await agent.call("hi", ctx);
  const read = await eventually(async () => {
    const found = await readAll(await agent.attach(ctx, { callId: "c" }));
    return found.at(-1)?.type === "call_end" && found;
  });
  const [gap, ...rest] = read || [];
  expect(gap).toMatchObject({ type: "events_dropped", seq: gap?.seq });
  expect(rest).toEqual(events.filter(({ seq }) => seq > (gap?.seq ?? 0)));
});

test("a reader that does not read does not slow the call, and reads it all later", async () => {
  const { agent, events } = agentOn(new InMemoryEventFeed(), bigModel(2_000));
  const call = agent.call("hi", ctx);
  const run = await eventually(() => agent.attach(ctx, { callId: "c" }));
  const slow = run?.[Symbol.asyncIterator]();
  const read = [(await slow?.next())?.value as AgentEvent];
  await call;
  for (;;) {
    const next = await slow?.next();
    if (!next || next.done) break;
    read.push(next.value);
  }
  expect(read).toEqual(events);
});

test("a thousand readers of a call get every event, from one read of each batch", async () => {
  const reads = new Map<number, number>();
  const inner = new InMemoryEventFeed();
  const feed: EventFeed = {
    contract: 1,
    kind: inner.kind,
    reach: inner.reach,
    append: (...args) => inner.append(...args),
    read: (slot, callId, after) => {
      reads.set(after, (reads.get(after) ?? 0) + 1);
      return inner.read(slot, callId, after);
    },
    open: (slot) => inner.open(slot),
    delete: (slot) => inner.delete(slot),
    watch: (...args) => inner.watch(...args),
  };
  const dictated = new DictatedModel();
  const { agent, events } = agentOn(feed, dictated.model);
  const call = agent.call("hi", ctx);
  await eventually(() => agent.attach(ctx));
  const READERS = 1_000;
  const counts = Array.from({ length: READERS }, async () => {
    const run = await agent.attach(ctx);
    let [count, chars] = [0, 0];
    for await (const event of run ?? []) {
      expect(event.seq).toBe(count++);
      if (event.type === "text_delta") chars += event.text.length;
    }
    return `${count} ${chars}`;
  });
  await eventually(() => reads.size > 0);
  const before = process.memoryUsage().heapUsed;
  for (let piece = 0; piece < 200; piece++) {
    dictated.say("x".repeat(1_000));
    await eventually(() => said(events).length >= (piece + 1) * 1_000, { intervalMs: 1 });
  }
  dictated.end();
  await call;
  const chars = said(events).length;
  expect(new Set(await Promise.all(counts))).toEqual(new Set([`${events.length} ${chars}`]));
  // 200 KB of text are shared: copies of it for each reader would be 200 MB.
  const grown = process.memoryUsage().heapUsed - before;
  expect(grown).toBeLessThan(100 * 1_048_576);
  // Each reader looks whether the call is there when it attaches.
  const followed = [...reads].filter(([after]) => after < 2 ** 40);
  for (const [after, count] of followed) expect(count, `reads behind ${after}`).toBeLessThan(50);
});

test("batches have the events of 50 ms or 4 KB, and an agent without the option appends none", async () => {
  const batches: FeedBatch[] = [];
  const inner = new InMemoryEventFeed();
  const feed: EventFeed = {
    contract: 1,
    kind: inner.kind,
    reach: inner.reach,
    append: (slot, callId, batch) => {
      batches.push(batch);
      return inner.append(slot, callId, batch);
    },
    read: (...args) => inner.read(...args),
    open: (slot) => inner.open(slot),
    delete: (slot) => inner.delete(slot),
  };
  const { agent, events } = agentOn(feed, bigModel(300, 1));
  const began = performance.now();
  await agent.call("hi", { userId: "u", sessionId: "s" });
  await agent.close();
  const elapsedMs = performance.now() - began;
  expect(batches.reduce((sum, { count }) => sum + count, 0)).toBe(events.length);
  // A timer may be early by a millisecond; the first and the last event go at once.
  expect(batches.length).toBeLessThan((300 * 1_024) / 4_096 + elapsedMs / 45 + 4);
  batches.length = 0;
  const stateStore = new InMemoryAgentStateStore();
  const off = new ReActAgent({ name: "a", model: scriptedModel(["hello"]), stateStore });
  await off.call("hi", ctx);
  expect(
    await stateStore.companions().eventFeed?.read({ agentId: "a", ...ctx }, "c", -1),
  ).toBeNull();
});

test("the events of a step are in the feed before it is saved, so that readers have seen what a successor goes on from", async () => {
  let appended = 0;
  const inner = new InMemoryEventFeed();
  const feed: EventFeed = {
    contract: 1,
    kind: inner.kind,
    reach: inner.reach,
    append: async (slot, callId, batch) => {
      // As from a server: other work runs before it answers.
      await immediate();
      const first = await inner.append(slot, callId, batch);
      appended += batch.count;
      return first;
    },
    read: (...args) => inner.read(...args),
    open: (slot) => inner.open(slot),
    delete: (slot) => inner.delete(slot),
  };
  const stateStore = new InMemoryAgentStateStore();
  const saves: { readonly appended: number; readonly emitted: number }[] = [];
  const save = stateStore.save.bind(stateStore);
  let emitted = 0;
  stateStore.save = (slot, write) => {
    saves.push({ appended, emitted });
    return save(slot, write);
  };
  const agent = new ReActAgent({
    ...{ name: "a", stateStore, eventFeed: feed, persistence: "step", tools: [noop] },
    model: scriptedModel([{ text: "a", toolCalls: [{ name: "noop", input: {} }] }, "b"]),
    onEvent: () => void emitted++,
  });
  await agent.call("hi", ctx);
  const steps = saves.slice(0, -1);
  expect(steps.length).toBeGreaterThan(0);
  for (const step of steps) expect(step.appended).toBe(step.emitted);
});

const noop = tool({
  name: "noop",
  description: "Does nothing.",
  input: z.object({}),
  execute: async () => "done",
});

/** Streams so many pieces of a kilobyte, and lets other work run after every few. */
function bigModel(pieces: number, few = 100) {
  return modelOf(async function* () {
    for (let piece = 0; piece < pieces; piece++) {
      yield { type: "text_delta", text: `${piece} `.padEnd(1_024, "x") };
      if (piece % few === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    yield finish;
  });
}
