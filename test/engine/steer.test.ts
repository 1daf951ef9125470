import {
  type AgentEvent,
  type AgentStateStore,
  definePlugin,
  InMemoryAgentStateStore,
  InMemorySignalBus,
  InvalidInputError,
  listGuard,
  ModelError,
  type ReActAgentOptions,
  tool,
  userMessage,
} from "@holdfast/core";
import { eventually } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { agentOn } from "./agent-on.js";
import { expectPaired, keptInLog, logged, logRecords, outline, slotOf } from "./conversation.js";
import { door } from "./door.js";
import { pairedModel } from "./valid-pairing.js";

const ctx = { sessionId: "s" };
const input = z.object({});
const use = (...names: string[]) => ({ toolCalls: names.map((name) => ({ name, input: {} })) });

/** A tool that waits for a door. */
function waitingTool(name = "wait") {
  const [reached, released] = [door(), door()];
  const execute = async () => {
    reached.open();
    await released.opened;
    return `${name} done`;
  };
  return { reached, released, tool: tool({ name, description: "Waits.", input, execute }) };
}

/** A model that waits for a door before its first answer. */
function waitingModel(replies: Parameters<typeof pairedModel>[0] & readonly unknown[]) {
  const [reached, released] = [door(), door()];
  const model = pairedModel(async (_, index) => {
    if (index === 0) {
      reached.open();
      await released.opened;
    }
    return replies[index] ?? "ok";
  });
  return { model, reached, released };
}

async function contextOf(store: AgentStateStore): Promise<string[]> {
  const state = await agentOn(store).getAgentState(null, "s");
  expectPaired(state?.context ?? []);
  return outline(state);
}

/** A store without an inbox. */
function withoutInbox(): AgentStateStore {
  const store = new InMemoryAgentStateStore({ fused: false });
  return new Proxy(store, {
    get: (target, key) => {
      const value = key === "inbox" ? undefined : Reflect.get(target, key, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

describe.each([true, false])("steering a call, fused: %s", (fused) => {
  describe.each(["call", "step"] as const)("persistence %s", (persistence) => {
    const newStore = () => new InMemoryAgentStateStore({ fused });

    test("the message comes behind the results of running tools, and the call goes on", async () => {
      const store = newStore();
      const { tool: wait, reached, released } = waitingTool();
      const model = pairedModel([use("wait", "wait"), "done"]);
      const events: AgentEvent[] = [];
      const onEvent = (event: AgentEvent) => events.push(event);
      const agent = agentOn(store, { model, tools: [wait], persistence, onEvent });
      const call = agent.call("go", ctx);
      await reached.opened;
      expect(await agentOn(store).steer(null, "s", "by train")).toBe("steered");
      released.open();
      expect(await call).toMatchObject({ reason: "stop", text: "done" });
      expect(outline(model.requests[1]?.messages)).toEqual([
        "user: go",
        "assistant: call wait + call wait",
        expect.stringContaining("tool: success wait done"),
        ...(persistence === "step" ? ["tool: success wait done"] : []),
        "user: by train",
      ]);
      const context = await contextOf(store);
      expect(context.filter((line) => line === "user: by train")).toHaveLength(1);
      expect(await keptInLog(store, slotOf())).toEqual(context);
      expect(await store.inbox.read(slotOf())).toEqual([]);
      const state = await agent.getAgentState(null, "s");
      const messageIds = state?.context.filter(({ role }) => role === "user").map(({ id }) => id);
      expect(events.filter(({ type }) => type === "steered")).toMatchObject([
        { messageIds: messageIds?.slice(1) },
      ]);
      expect(events.some(({ type }) => type === "interrupted")).toBe(false);
    });

    test("a call that was about to end goes on for another round, and another", async () => {
      const store = newStore();
      const { model, reached, released } = waitingModel(["first", "second"]);
      const agent = agentOn(store, { model, persistence });
      const call = agent.call("go", ctx);
      await reached.opened;
      expect(await agent.steer(ctx, "and one")).toBe("steered");
      expect(await agent.steer(ctx, "and two")).toBe("steered");
      released.open();
      expect((await call).text).toBe("second");
      expect(await contextOf(store)).toEqual([
        "user: go",
        "assistant: first",
        "user: and one",
        "user: and two",
        "assistant: second",
      ]);
      expect(await keptInLog(store, slotOf())).toEqual(await contextOf(store));
    });

    test("at the limit of steps the message waits for the next call", async () => {
      const store = newStore();
      const { model, reached, released } = waitingModel(["first"]);
      const agent = agentOn(store, { model, persistence, maxIterations: 1 });
      const call = agent.call("go", ctx);
      await reached.opened;
      await agent.steer(ctx, "too late");
      released.open();
      expect((await call).text).toBe("first");
      expect((await contextOf(store)).at(-1)).toBe("user: too late");
      await agentOn(store).call("next", ctx);
      expect(await contextOf(store)).toEqual([
        ...["user: go", "assistant: first", "user: too late", "user: next", "assistant: ok"],
      ]);
      expect(await store.inbox.read(slotOf())).toEqual([]);
    });

    test("a lost signal leaves the message to the next call, in order", async () => {
      const store = newStore();
      const { signals } = store.companions();
      const deaf = new InMemorySignalBus();
      const { model, reached, released } = waitingModel(["first"]);
      const call = agentOn(store, { model, persistence, signals: deaf }).call("go", ctx);
      await reached.opened;
      const other = agentOn(store, { signals });
      expect(await other.steer(ctx, "one")).toBe("queued");
      expect(await other.steer(ctx, "two")).toBe("queued");
      released.open();
      expect((await call).text).toBe("first");
      await other.call("next", ctx);
      expect(await contextOf(store)).toEqual([
        ...["user: go", "assistant: first", "user: one", "user: two"],
        ...["user: next", "assistant: ok"],
      ]);
    });

    test("a message that came before an interrupt stands before it, one that came later behind it", async () => {
      const store = newStore();
      const { model, reached } = waitingModel(["never"]);
      const agent = agentOn(store, { model, persistence });
      const call = agent.call("go", ctx);
      await reached.opened;
      await agent.steer(ctx, "one");
      const { inbox } = store;
      const read = inbox.read.bind(inbox);
      let late: Promise<unknown> | undefined;
      // The message behind the interrupt comes while the call is being stopped, before it looks for others.
      inbox.read = async (slot) => {
        late ??= agent.steer(ctx, "two");
        expect(await late).not.toBe(false);
        return read(slot);
      };
      await agent.interrupt(null, "s", "stop");
      expect((await call).reason).toBe("interrupted");
      await agentOn(store).call("next", ctx);
      const said = (await contextOf(store)).filter((line) => line.startsWith("user"));
      expect(said).toEqual(["user: go", "user: one", "user: stop", "user: two", "user: next"]);
    });

    test("a rollback of the call keeps the message, whether the call had it or not", async () => {
      const store = newStore();
      const [first, second] = [waitingTool("first"), waitingTool("second")];
      const model = pairedModel([use("first"), use("second"), "never"]);
      const tools = [first.tool, second.tool];
      const agent = agentOn(store, { model, tools, persistence });
      const call = agent.call("go", ctx);
      await first.reached.opened;
      await agent.steer(ctx, "taken in");
      first.released.open();
      await second.reached.opened;
      await agent.steer(ctx, "not yet");
      const after = pairedModel(["after"]);
      await agentOn(store, { model: after }).call("again", { ...ctx, onBusy: "rollback" });
      expect((await call).reason).toBe("interrupted");
      const expected = ["user: taken in", "user: not yet", "user: again"];
      expect(outline(after.requests[0]?.messages)).toEqual(expected);
      expect(await contextOf(store)).toEqual([...expected, "assistant: after"]);
      expect(await keptInLog(store, slotOf())).toEqual([...expected, "assistant: after"]);
    });

    test("words that came while a tool call asks wait for its result", async () => {
      const store = newStore();
      const { tool: wait, reached, released } = waitingTool();
      const ask = tool({ name: "ask", description: "Asks.", input, execute: () => "asked" });
      const setup: Parameters<typeof definePlugin>[0]["setup"] = (host) =>
        host.provide("toolGuard", listGuard({ ask: ["ask"] }));
      const plugins = [definePlugin({ name: "guard", contract: 1, setup })];
      const model = pairedModel([use("wait", "ask"), "done"]);
      const agent = agentOn(store, { model, tools: [wait, ask], plugins, persistence });
      const call = agent.call("go", ctx);
      await reached.opened;
      expect(await agent.steer(ctx, "meanwhile")).toBe("steered");
      released.open();
      const reply = await call;
      expect(reply.reason).toBe("permission_asking");
      expect(await agent.steer(ctx, "nobody runs")).toBe(false);
      const pending = "pending" in reply ? reply.pending : [];
      const confirm = pending.map(({ toolCallId }) => ({ toolCallId, approve: true }));
      expect((await agent.call({ confirm }, ctx)).text).toBe("done");
      const said = await contextOf(store);
      expect(said.slice(-3)).toEqual(["tool: success asked", "user: meanwhile", "assistant: done"]);
      expect(said.filter((line) => line === "user: meanwhile")).toHaveLength(1);
    });

    test("a call that failed is resumed with the message behind its own words", async () => {
      const store = newStore();
      const { tool: wait, reached, released } = waitingTool();
      const model = pairedModel([use("wait"), { error: new ModelError("down") }]);
      const agent = agentOn(store, { model, tools: [wait], persistence });
      const call = agent.call("go", ctx);
      await reached.opened;
      await agent.steer(ctx, "by train");
      released.open();
      await expect(call).rejects.toThrow("down");
      const reply = await agentOn(store, { tools: [wait] }).resume(ctx);
      expect(reply?.text).toBe("ok");
      expect(await contextOf(store)).toEqual([
        ...["user: go", "assistant: call wait", "tool: success wait done"],
        ...["user: by train", "assistant: ok"],
      ]);
    });

    test("words that a provider refuses are taken back with the turn, or every later call would be refused", async () => {
      const store = newStore();
      const { tool: wait, reached, released } = waitingTool();
      const refusal = new ModelError("no", { kind: "content" });
      const model = pairedModel([use("wait"), { error: refusal }]);
      const agent = agentOn(store, { model, tools: [wait], persistence });
      const call = agent.call("go", ctx);
      await reached.opened;
      await agent.steer(ctx, "bad words");
      released.open();
      await expect(call).rejects.toThrow("no");
      expect(await contextOf(store)).toEqual([]);
      expect(outline(logged(await logRecords(store, slotOf())))).toContain("user: bad words");
      expect(await store.inbox.read(slotOf())).toEqual([]);
    });

    test("a reply of a given form is asked for again", async () => {
      const store = newStore();
      const { model, reached, released } = waitingModel(['{"n":1}', '{"n":2}']);
      const native = { ...model, structuredOutput: true };
      const agent = agentOn(store, { model: native, persistence });
      const output = z.object({ n: z.number() });
      const call = agent.call("go", { ...ctx, output });
      await reached.opened;
      await agent.steer(ctx, "one more");
      released.open();
      expect(await call).toMatchObject({ reason: "structured_output", output: { n: 2 } });
    });
  });

  test("a call that nobody steers never looks into the inbox", async () => {
    const store = new InMemoryAgentStateStore({ fused });
    const reads = async (steer: boolean) => {
      const { tool: wait, reached, released } = waitingTool();
      const model = pairedModel([use("wait"), "done"]);
      const agent = agentOn(store, { model, tools: [wait] });
      const { inbox } = store;
      const read = inbox.read.bind(inbox);
      let count = 0;
      inbox.read = (slot) => {
        count++;
        return read(slot);
      };
      const call = agent.call("go", ctx);
      await reached.opened;
      if (steer) await agent.steer(ctx, "words");
      released.open();
      await call;
      inbox.read = read;
      return count;
    };
    const opening = fused ? 0 : 1;
    expect(await reads(false)).toBe(opening);
    expect(await reads(true)).toBe(opening + 1);
  });

  test("an inbox that cannot be read stops nothing, and the call looks again at its next step", async () => {
    const store = new InMemoryAgentStateStore({ fused });
    const [first, second] = [waitingTool("first"), waitingTool("second")];
    const model = pairedModel([use("first"), use("second"), "done"]);
    const agent = agentOn(store, { model, tools: [first.tool, second.tool] });
    const call = agent.call("go", ctx);
    await first.reached.opened;
    await agent.steer(ctx, "words");
    const { inbox } = store;
    const read = inbox.read.bind(inbox);
    inbox.read = async () => {
      throw new Error("away");
    };
    first.released.open();
    await second.reached.opened;
    inbox.read = read;
    second.released.open();
    await call;
    expect((await contextOf(store)).slice(-3)).toEqual([
      "tool: success second done",
      "user: words",
      "assistant: done",
    ]);
  });

  test("with a callId the message is for that call alone", async () => {
    const store = new InMemoryAgentStateStore({ fused });
    const { model, reached, released } = waitingModel(["first", "second"]);
    const agent = agentOn(store, { model });
    const running = agent.call("running", { ...ctx, callId: "running" });
    await reached.opened;
    const waits = agent.call("waits", { ...ctx, callId: "waits" });
    const { gate } = store.companions();
    await eventually(async () => (await gate.calls(slotOf())).length === 2);
    expect(await agent.steer(ctx, "for nobody", { callId: "neither" })).toBe(false);
    expect(await agent.steer(ctx, "for the second", { callId: "waits" })).toBe("steered");
    expect(await agent.steer(ctx, "for the first")).toBe("steered");
    released.open();
    await Promise.all([running, waits]);
    expect((await contextOf(store)).filter((line) => line.startsWith("user"))).toEqual([
      ...["user: running", "user: for the first", "user: for the second", "user: waits"],
    ]);
  });

  test("the message passes the onIncoming hooks, and repeated with its id it enters once", async () => {
    const store = new InMemoryAgentStateStore({ fused });
    const { model, reached, released } = waitingModel(["first", "second"]);
    const origins: string[] = [];
    const middleware: ReActAgentOptions["middleware"] = [
      {
        name: "redact",
        async onIncoming(message, { origin }) {
          origins.push(origin);
          return { ...message, content: [{ type: "text", text: `seen ${origin}` }] };
        },
      },
    ];
    const agent = agentOn(store, { model, middleware });
    const call = agent.call("go", ctx);
    await reached.opened;
    const message = userMessage("secret");
    await agent.steer(ctx, message);
    await agent.steer(ctx, message);
    released.open();
    await call;
    expect(origins).toEqual(["input", "steer", "steer"]);
    const said = await contextOf(store);
    expect(said.filter((line) => line === "user: seen steer")).toHaveLength(1);
  });
});

test("the entry goes from the inbox only when a saved context has the message, also if it is compacted away later", async () => {
  const store = new InMemoryAgentStateStore({ fused: false });
  const { tool: wait, reached, released } = waitingTool();
  const forget = tool({
    name: "forget",
    description: "Takes the words out of the context.",
    input,
    execute: (_, { agentState }) => {
      const index = outline(agentState).indexOf("user: words");
      agentState?.contextMutable().splice(index, 1);
      return "forgotten";
    },
  });
  const { inbox } = store;
  const remove = inbox.remove.bind(inbox);
  const saved: boolean[] = [];
  inbox.remove = async (slot, ids) => {
    const loaded = await store.load(slot);
    const messages =
      loaded && typeof loaded === "object" && "messages" in loaded && loaded.messages;
    saved.push(
      messages !== false &&
        messages !== null &&
        ids.every((id) => messages.some((one) => one.id === id)),
    );
    return remove(slot, ids);
  };
  const model = pairedModel([use("wait"), use("forget"), "done"]);
  const agent = agentOn(store, { model, tools: [wait, forget] });
  const call = agent.call("go", ctx);
  await reached.opened;
  await agent.steer(ctx, "words");
  released.open();
  await call;
  expect(await contextOf(store)).not.toContain("user: words");
  expect(saved).toEqual([true]);
});

test("on a store without an inbox the message comes with the signal, and is stored when steer resolves", async () => {
  const store = withoutInbox();
  const { tool: wait, reached, released } = waitingTool();
  const model = pairedModel([use("wait"), "done"]);
  const agent = agentOn(store, { model, tools: [wait] });
  const call = agent.call("go", ctx);
  await reached.opened;
  const steered = agent.steer(ctx, "words");
  released.open();
  expect(await steered).toBe("steered");
  await call;
  expect(await contextOf(store)).toEqual([
    ...["user: go", "assistant: call wait", "tool: success wait done"],
    ...["user: words", "assistant: done"],
  ]);
});

test("without a call in flight nothing is stored, and what is no message is refused", async () => {
  const store = new InMemoryAgentStateStore();
  const agent = agentOn(store);
  expect(await agent.steer(null, "s", "hello?")).toBe(false);
  expect(await agent.getAgentState(null, "s")).toBeNull();
  await expect(agent.steer(ctx, [] as never)).rejects.toThrow(InvalidInputError);
  await expect(agent.steer(ctx, undefined as never)).rejects.toThrow(InvalidInputError);
  await expect(agent.steer(ctx, "x", { callid: "c" } as never)).rejects.toThrow(/callid/);
});
