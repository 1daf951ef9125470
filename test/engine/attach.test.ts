import {
  type AgentEvent,
  ConfigurationError,
  InMemoryAgentStateStore,
  InProcessSessionGate,
  InvalidInputError,
  ReActAgent,
  type ReActAgentOptions,
  ShuttingDownError,
  tool,
} from "@holdfast/core";
import { InMemoryEventFeed } from "@holdfast/core/store-kit";
import { eventually, scriptedModel } from "@holdfast/testing";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { DictatedModel, faultyFeed, readAll, said } from "./feeds.js";
import { finish, modelOf } from "./models.js";

const ctx = { userId: "u", sessionId: "s" };

/** An agent that keeps its events, and all that it emitted. */
function watched(options: Partial<ReActAgentOptions> & Pick<ReActAgentOptions, "model">) {
  const events: AgentEvent[] = [];
  const onEvent = (event: AgentEvent) => {
    if (event.background !== true) events.push(event);
  };
  return { events, agent: new ReActAgent({ name: "a", eventFeed: true, onEvent, ...options }) };
}

describe("attach", () => {
  test("replays a running call, then goes on with it, to any number of readers", async () => {
    const dictated = new DictatedModel();
    const { agent, events } = watched({ model: dictated.model });
    const run = agent.stream("hi", ctx);
    dictated.say("Good ", "morning");
    await eventually(() => said(events) === "Good morning");
    const readers = [0, 1, 2].map(async () => readAll(await agent.attach(ctx)));
    dictated.say(", Ada");
    dictated.end();
    expect((await run.result).text).toBe("Good morning, Ada");
    for (const read of await Promise.all(readers)) expect(read).toEqual(events);
    expect(await readAll(run)).toEqual(events);
  });

  test("gives null when nothing runs, and the whole of a call that ended when it is named", async () => {
    const { agent, events } = watched({ model: scriptedModel(["hello"]) });
    expect(await agent.attach(ctx)).toBeNull();
    const { callId } = await agent.call("hi", ctx);
    await eventually(async () => (await agent.attach(ctx)) === null);
    const run = await agent.attach("u", "s", { callId });
    expect(run?.callId).toBe(callId);
    expect(await readAll(run)).toEqual(events);
    // Each loop reads from the beginning.
    expect(await readAll(run)).toEqual(events);
    expect(await agent.attach(ctx, { callId: "another" })).toBeNull();
    expect(await agent.attach({ ...ctx, sessionId: "other" }, { callId })).toBeNull();
  });

  test("ends when its signal aborts, and the call goes on", async () => {
    const dictated = new DictatedModel();
    const { agent } = watched({ model: dictated.model });
    const call = agent.call("hi", ctx);
    await eventually(() => agent.attach(ctx));
    const stop = new AbortController();
    const run = await agent.attach(ctx, { signal: stop.signal });
    const read: AgentEvent[] = [];
    const reading = (async () => {
      for await (const event of run ?? []) read.push(event);
    })();
    await eventually(() => read.some(({ type }) => type === "model_call_start"));
    stop.abort();
    await reading;
    expect(read.at(-1)?.type).toBe("model_call_start");
    dictated.say("there");
    dictated.end();
    expect((await call).text).toBe("there");
  });

  test("begins with the call that holds the session, not with one that waits", async () => {
    const dictated = new DictatedModel();
    const { agent, events } = watched({ model: dictated.model });
    const first = agent.call("one", { ...ctx, callId: "c-1" });
    await eventually(() => events.some(({ type }) => type === "state_loaded"));
    const second = agent.call("two", { ...ctx, callId: "c-2" });
    await eventually(() => events.some(({ type }) => type === "queue_wait"));
    await eventually(async () => (await agent.attach(ctx, { callId: "c-2" })) !== null);
    expect((await agent.attach(ctx))?.callId).toBe("c-1");
    dictated.say("one");
    dictated.end();
    await first;
    await eventually(async () => (await agent.attach(ctx))?.callId === "c-2");
    dictated.say("two");
    dictated.end();
    await second;
  });

  test("is refused where no events are kept, and for a position that is none", async () => {
    const plain = new ReActAgent({ name: "a", model: scriptedModel([]) });
    await expect(plain.attach(ctx)).rejects.toThrow(ConfigurationError);
    const { agent } = watched({ model: scriptedModel([]) });
    for (const afterSeq of [-2, 0.5, Number.NaN])
      await expect(agent.attach(ctx, { afterSeq })).rejects.toThrow(InvalidInputError);
    await expect(agent.attach(ctx, { after: 1 } as never)).rejects.toThrow(InvalidInputError);
  });

  test("ends with an error when its agent closes, so that the reader goes elsewhere", async () => {
    const dictated = new DictatedModel();
    const eventFeed = new InMemoryEventFeed();
    const stateStore = new InMemoryAgentStateStore();
    const options = { model: dictated.model, eventFeed, stateStore };
    const [runner, other] = [watched(options), watched(options)];
    const call = runner.agent.call("hi", { ...ctx, callId: "c" });
    const run = await eventually(() => other.agent.attach(ctx, { callId: "c" }));
    const reading = readAll(run);
    const refused = expect(reading).rejects.toThrow(ShuttingDownError);
    await eventually(() => runner.events.some(({ type }) => type === "model_call_start"));
    await other.agent.close();
    await refused;
    dictated.say("done");
    dictated.end();
    await call;
  });
});

describe("events of a session that is deleted", () => {
  test("are deleted with it", async () => {
    const { agent } = watched({ model: scriptedModel(["one", "two"]) });
    const other = { ...ctx, sessionId: "other" };
    await agent.call("hi", { ...ctx, callId: "c-1" });
    await agent.call("hi", { ...other, callId: "c-2" });
    await agent.deleteSession(ctx);
    expect(await agent.attach(ctx, { callId: "c-1" })).toBeNull();
    expect(await agent.attach(other, { callId: "c-2" })).not.toBeNull();
    await agent.deleteUser("u");
    expect(await agent.attach(other, { callId: "c-2" })).toBeNull();
  });
});

/** A reply in pieces, with pauses between them. */
const replies = fc.array(fc.tuple(fc.string({ maxLength: 12, unit: "binary" }), fc.nat(3)), {
  maxLength: 40,
});

describe("attach at any instant, behind any event", () => {
  test("gives exactly the events behind it", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(replies, { minLength: 1, maxLength: 3 }),
        fc.array(fc.tuple(fc.nat(60), fc.integer({ min: -1, max: 60 })), { maxLength: 4 }),
        async (rounds, attachments) => {
          const model = modelOf(async function* (_, index) {
            for (const [text, pauses] of rounds[index] ?? []) {
              yield { type: "text_delta", text };
              for (let left = pauses; left > 0; left--) await turn();
            }
            if (index < rounds.length - 1)
              yield { type: "tool_call", id: `t${index}`, name: "noop", input: {} };
            else yield { type: "text_delta", text: "." };
            yield finish;
          });
          const noop = tool({
            name: "noop",
            description: "Does nothing.",
            input: z.object({}),
            execute: async () => "done",
          });
          const { agent, events } = watched({ model, tools: [noop] });
          const call = agent.call("hi", { ...ctx, callId: "c" });
          const reads = attachments.map(async ([instant, afterSeq]) => {
            for (let left = instant; left > 0; left--) await turn();
            const run = await eventually(() => agent.attach(ctx, { callId: "c", afterSeq }));
            return { afterSeq, read: await readAll(run) };
          });
          await call;
          for (const { afterSeq, read } of await Promise.all(reads))
            expect(read).toEqual(events.filter(({ seq }) => seq > afterSeq));
          expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at));
        },
      ),
      { numRuns: 60 },
    );
  });
});

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe("a run that goes on with another one", () => {
  /** Two agents on one store, of which the first can be cut off: its gate ends with it. */
  function pair() {
    const stateStore = new InMemoryAgentStateStore({ fused: false });
    const eventFeed = new InMemoryEventFeed();
    const shared = { stateStore, eventFeed };
    const dying = new DictatedModel();
    const dead = { isDead: false };
    const feed = faultyFeed(eventFeed, () => (dead.isDead ? new Promise(() => {}) : undefined));
    const first = watched({ ...shared, model: dying.model, eventFeed: feed });
    const gate = new InProcessSessionGate();
    const second = watched({ ...shared, model: scriptedModel(["from the start"]), gate });
    return { first, second, dying, dead };
  }

  test("goes on in the same events: the reader is told of the loss and reads on", async () => {
    const { first, second, dying, dead } = pair();
    first.agent.call("hi", { ...ctx, callId: "c" }).catch(() => undefined);
    dying.say("half a ", "reply");
    await eventually(() => said(first.events) === "half a reply");
    const run = await eventually(() => second.agent.attach(ctx, { callId: "c" }));
    const read: AgentEvent[] = [];
    const reading = (async () => {
      for await (const event of run ?? []) read.push(event);
    })();
    await eventually(() => said(read) === "half a reply");
    dead.isDead = true;
    await eventually(() => read.some(({ type }) => type === "run_lost"));
    expect(read.filter(({ type }) => type === "run_lost")).toEqual([
      { ...read.at(-1), type: "run_lost", callId: "c", seq: read.at(-2)?.seq },
    ]);
    // A reader that comes now, without knowing the call, finds it as well.
    expect((await second.agent.attach(ctx))?.callId).toBe("c");
    const reply = await second.agent.resume(ctx);
    expect(reply?.text).toBe("from the start");
    await reading;
    const own = read.filter(({ type }) => type !== "run_lost");
    expect(own.map(({ seq }) => seq)).toEqual(own.map((_, at) => at));
    expect(own.slice(-second.events.length)).toEqual(second.events);
    expect(said(read)).toBe("from the start");
    // A reader who reads it all later sees the same.
    expect(await readAll(await second.agent.attach(ctx, { callId: "c" }))).toEqual(read);
  });

  test("a process that dies between its last save and its last events leaves readers the end all the same", async () => {
    const { first, second, dying, dead } = pair();
    const call = first.agent.call("hi", { ...ctx, callId: "c" });
    dying.say("a ", "reply");
    await eventually(() => said(first.events) === "a reply");
    const run = await eventually(() => second.agent.attach(ctx, { callId: "c" }));
    const reading = readAll(run);
    dead.isDead = true;
    dying.end();
    expect((await call).text).toBe("a reply");
    const read = await reading;
    expect(read.slice(-2)).toMatchObject([
      { type: "events_dropped", callId: "c" },
      { type: "call_end", callId: "c", reason: "stop" },
    ]);
    expect(read.at(-1)?.seq).toBe(read.at(-3)?.seq);
  });

  test("a repeated call that is answered from its record adds nothing", async () => {
    const { agent, events } = watched({ model: scriptedModel(["once"]) });
    await agent.call("hi", { ...ctx, callId: "c" });
    const before = await readAll(await agent.attach(ctx, { callId: "c" }));
    expect(before).toEqual(events);
    const repeated = agent.stream("hi", { ...ctx, callId: "c" });
    const streamed = await readAll(repeated);
    expect(said(streamed)).toBe("once");
    expect(streamed[0]?.seq).toBe(before.length);
    expect(await readAll(await agent.attach(ctx, { callId: "c" }))).toEqual(before);
  });

  test("a call repeated while it runs takes nothing from the readers of the first", async () => {
    const dictated = new DictatedModel();
    const { agent, events } = watched({ model: dictated.model });
    const first = agent.call("hi", { ...ctx, callId: "c" });
    dictated.say("one ");
    await eventually(() => said(events) === "one ");
    const reading = readAll(await agent.attach(ctx));
    const second = agent.stream("hi", { ...ctx, callId: "c" });
    await eventually(() => events.some(({ type }) => type === "queue_wait"));
    dictated.say("two");
    dictated.end();
    expect((await first).text).toBe("one two");
    expect((await second.result).text).toBe("one two");
    const runId = events[0]?.runId;
    expect(await reading).toEqual(events.filter((event) => event.runId === runId));
    expect(await readAll(await agent.attach(ctx, { callId: "c" }))).toEqual(await reading);
  });

  test("a call that failed and is repeated goes on behind its end", async () => {
    let calls = 0;
    const model = modelOf(async function* () {
      if (calls++ === 0) throw new Error("no");
      yield { type: "text_delta", text: "yes" };
      yield finish;
    });
    const { agent, events } = watched({ model, modelRetry: { attempts: 1 } });
    await agent.call("hi", { ...ctx, callId: "c" }).catch(() => undefined);
    const failed = await readAll(await agent.attach(ctx, { callId: "c" }));
    expect(failed.at(-1)).toMatchObject({ type: "call_end", reason: "error" });
    await agent.call("hi", { ...ctx, callId: "c" });
    const all = await readAll(await agent.attach(ctx, { callId: "c" }));
    expect(all).toEqual(events);
    expect(all.map(({ seq }) => seq)).toEqual(all.map((_, at) => at));
    expect(all.some(({ type }) => type === "run_lost")).toBe(false);
  });
});
