import {
  CallAbortedError,
  InMemorySignalBus,
  InProcessSessionGate,
  type Middleware,
  ReActAgent,
  SessionBusyError,
  StoreUnavailableError,
  textOf,
  tool,
} from "@holdfast/core";
import { eventually, scaled, scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { outline, slotOf } from "./conversation.js";
import { type Door, door } from "./door.js";
import { type CommandName, FaultyStore, unavailable } from "./faulty-store.js";
import { finish, modelOf } from "./models.js";

/** What a call said last. */
function said(request: { messages: readonly Parameters<typeof textOf>[0][] }): string {
  const last = request.messages.at(-1);
  return last ? textOf(last) : "";
}

describe.each([true, false])("the gate, fused: %s", (fused) => {
  test("40 calls made at once on one session run one at a time, in the order they were made", async () => {
    const store = new FaultyStore({ fused });
    const began: string[] = [];
    let running = 0;
    const model = scriptedModel(async (request) => {
      expect(++running).toBe(1);
      const text = said(request);
      began.push(text);
      // Later calls answer faster: only the queue keeps the order.
      for (let turn = 40 - Number(text); turn > 0; turn--) await Promise.resolve();
      running--;
      return `re ${text}`;
    });
    const agent = new ReActAgent({ name: "a", model, stateStore: store });
    const numbers = Array.from({ length: 40 }, (_, index) => `${index}`);
    const ended: string[] = [];
    await Promise.all(
      numbers.map(async (n) => {
        const reply = await agent.call(n, { sessionId: "s" });
        expect(reply.text).toBe(`re ${n}`);
        ended.push(n);
      }),
    );
    expect(began).toEqual(numbers);
    expect(ended).toEqual(numbers);
    expect(outline(await agent.getAgentState(null, "s"))).toEqual(
      numbers.flatMap((n) => [`user: ${n}`, `assistant: re ${n}`]),
    );
    expect(await store.companions().gate.calls(slotOf())).toEqual([]);
  });

  test("60 sessions run at once: each waits inside its model for all the others", async () => {
    const everybody = door();
    let inside = 0;
    const model = scriptedModel(async () => {
      if (++inside === 60) everybody.open();
      await everybody.opened;
      return "ok";
    });
    const agent = new ReActAgent({ name: "a", model, stateStore: new FaultyStore({ fused }) });
    const replies = await Promise.all(
      Array.from({ length: 60 }, (_, n) =>
        // Half of them differ in the user only.
        agent.call("x", n % 2 ? { sessionId: `s${n}` } : { userId: `u${n}`, sessionId: "s" }),
      ),
    );
    expect(replies.map(({ reason }) => reason)).toEqual(Array(60).fill("stop"));
  });

  test("a full queue refuses the next call with SessionBusyError; those in it run", async () => {
    const { agent, hold } = heldAgent(new FaultyStore({ fused }), { maxQueue: 2 });
    const first = agent.call("0", { sessionId: "s" });
    await hold.reached.opened;
    const others = [agent.call("1", { sessionId: "s" }), agent.call("2", { sessionId: "s" })];
    await expect(agent.call("3", { sessionId: "s" })).rejects.toSatisfy(SessionBusyError.is);
    await expect(agent.call("3", { sessionId: "t" })).resolves.toMatchObject({ text: "re 3" });
    hold.release.open();
    await Promise.all([first, ...others]);
    expect(outline(await agent.getAgentState(null, "s"))).toEqual([
      "user: 0",
      "assistant: re 0",
      "user: 1",
      "assistant: re 1",
      "user: 2",
      "assistant: re 2",
    ]);
  });

  test("with queueTimeoutMs a call gives up its place with SessionBusyError, and leaves no trace", async () => {
    const store = new FaultyStore({ fused });
    const { agent, hold } = heldAgent(store);
    const first = agent.call("0", { sessionId: "s" });
    await hold.reached.opened;
    const patient = agent.call("2", { sessionId: "s", queueTimeoutMs: Number.POSITIVE_INFINITY });
    const hasty = agent.call("1", { sessionId: "s", queueTimeoutMs: 5 });
    await expect(hasty).rejects.toSatisfy(SessionBusyError.is);
    expect(await store.companions().gate.calls(slotOf())).toHaveLength(2);
    hold.release.open();
    await Promise.all([first, patient]);
    expect(outline(await agent.getAgentState(null, "s"))).toEqual([
      "user: 0",
      "assistant: re 0",
      "user: 2",
      "assistant: re 2",
    ]);
  });

  test("a call whose signal aborts while it waits leaves the queue; the others keep their order", async () => {
    const store = new FaultyStore({ fused });
    const { agent, hold } = heldAgent(store);
    const first = agent.call("0", { sessionId: "s" });
    await hold.reached.opened;
    const controller = new AbortController();
    const ended: string[] = [];
    const others = ["1", "gone", "2", "gone too", "3"].map((text) => {
      const gone = text.startsWith("gone");
      const ctx = gone ? { sessionId: "s", signal: controller.signal } : { sessionId: "s" };
      return agent.call(text, ctx).then(
        () => void ended.push(text),
        (error) => error,
      );
    });
    const why = new Error("the browser went away");
    controller.abort(why);
    for (const index of [1, 3]) {
      const error = await others[index];
      expect(CallAbortedError.is(error)).toBe(true);
      expect((error as Error).cause).toBe(why);
    }
    await eventually(async () => (await store.companions().gate.calls(slotOf())).length === 4);
    hold.release.open();
    await Promise.all([first, ...others]);
    expect(ended).toEqual(["1", "2", "3"]);
    expect(await store.companions().gate.calls(slotOf())).toEqual([]);
    expect(JSON.stringify(await agent.getAgentState(null, "s"))).not.toContain("gone");
  });

  test("a call whose signal aborted before it was made does nothing at all", async () => {
    const store = new FaultyStore({ fused });
    const model = scriptedModel([]);
    const agent = new ReActAgent({ name: "a", model, stateStore: store });
    const call = agent.call("x", { sessionId: "s", signal: AbortSignal.abort() });
    await expect(call).rejects.toSatisfy(CallAbortedError.is);
    expect(model.requests).toEqual([]);
    expect([...store.of("save"), ...store.of("append"), ...store.of("load")]).toEqual([]);
  });

  test("a failing model frees the session for the next call", async () => {
    const store = new FaultyStore({ fused });
    const model = scriptedModel([{ error: new Error("no model") }, "fine"]);
    const agent = new ReActAgent({ name: "a", model, stateStore: store });
    const failing = agent.call("1", { sessionId: "s" });
    const waiting = agent.call("2", { sessionId: "s" });
    await expect(failing).rejects.toThrow("no model");
    await expect(waiting).resolves.toMatchObject({ text: "fine" });
    expect(await store.companions().gate.calls(slotOf())).toEqual([]);
  });

  const fail = () => {
    throw new Error("broken hook");
  };
  const hooks: Middleware[] = [
    { name: "onCall", onCall: fail },
    { name: "onCall, afterwards", onCall: (_, next) => next().then(fail) },
    { name: "onReasoning", onReasoning: fail },
    { name: "onModelCall", onModelCall: fail },
    { name: "onActing", onActing: fail },
    { name: "onToolCall", onToolCall: fail },
    { name: "onSystemPrompt", onSystemPrompt: fail },
  ];
  test.each(hooks)("a hook that throws frees the session: $name", async (hook) => {
    const store = new FaultyStore({ fused });
    const noop = tool({
      name: "noop",
      description: "Does nothing.",
      input: z.object({}),
      execute: () => "",
    });
    const script = [{ toolCalls: [{ name: "noop", input: {} }] }, "done"];
    const broken = new ReActAgent({
      name: "a",
      model: scriptedModel(script),
      tools: [noop],
      middleware: [hook],
      stateStore: store,
    });
    await expect(broken.call("1", { sessionId: "s" })).rejects.toThrow("broken hook");
    expect(await store.companions().gate.calls(slotOf())).toEqual([]);
    const sound = new ReActAgent({
      name: "a",
      model: scriptedModel(["fine"]),
      stateStore: store,
    });
    await expect(sound.call("2", { sessionId: "s" })).resolves.toMatchObject({ text: "fine" });
  });

  const commands: CommandName[] = fused ? ["save"] : ["load", "append", "save"];
  test.each(commands)(
    "a store whose %s fails frees the session for the next call",
    async (name) => {
      const store = new FaultyStore({ fused });
      const model = scriptedModel(() => "ok");
      const agent = new ReActAgent({ name: "a", model, stateStore: store, saveDeadlineMs: 20 });
      store.every(name, unavailable);
      await expect(agent.call("1", { sessionId: "s" })).rejects.toSatisfy(StoreUnavailableError.is);
      expect(await store.companions().gate.calls(slotOf())).toEqual([]);
      store.every(name, undefined);
      await expect(agent.call("2", { sessionId: "s" })).resolves.toMatchObject({ text: "ok" });
    },
  );

  test("a log that cannot be read when an old reply is asked for frees the session", async () => {
    const store = new FaultyStore({ fused });
    const agent = new ReActAgent({
      name: "a",
      model: scriptedModel(() => "ok"),
      stateStore: store,
    });
    await agent.call("1", { sessionId: "s", callId: "once" });
    await agent.updateAgentState(null, "s", (state) => state.contextMutable().replaceAll([]));
    store.next("read", unavailable);
    const again = agent.call("1", { sessionId: "s", callId: "once" });
    await expect(again).rejects.toSatisfy(StoreUnavailableError.is);
    expect(await store.companions().gate.calls(slotOf())).toEqual([]);
    await expect(agent.call("2", { sessionId: "s" })).resolves.toMatchObject({ text: "ok" });
  });
});

const batches = scaled(4, 20);

test(`${batches * 500} sessions leave nothing behind at the gate and on the signal bus`, async () => {
  const gate = new InProcessSessionGate();
  const signals = new InMemorySignalBus();
  let most = 0;
  const model = modelOf(async function* () {
    most = Math.max(most, gate.size);
    yield { type: "text_delta", text: "ok" };
    yield finish;
  });
  const agent = new ReActAgent({
    name: "a",
    model,
    gate,
    signals,
    stateCache: { maxSessions: 10 },
  });
  for (let batch = 0; batch < batches; batch++)
    await Promise.all(
      Array.from({ length: 500 }, (_, n) => agent.call("x", { sessionId: `s${batch}.${n}` })),
    );
  expect(most).toBeGreaterThan(1);
  expect(gate.size).toBe(0);
  expect(signals.size).toBe(0);
});

/** An agent whose first model call waits for `hold.release`, and the rest answer at once. */
function heldAgent(
  store: FaultyStore,
  options: { maxQueue?: number } = {},
): { agent: ReActAgent; hold: { reached: Door<void>; release: Door<void> } } {
  const hold = { reached: door(), release: door() };
  const model = scriptedModel(async (request, index) => {
    if (index === 0) {
      hold.reached.open();
      await hold.release.opened;
    }
    return `re ${said(request)}`;
  });
  return { agent: new ReActAgent({ name: "a", model, stateStore: store, ...options }), hold };
}
