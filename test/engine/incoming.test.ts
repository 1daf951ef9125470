import {
  CallIdReusedError,
  definePlugin,
  type Message,
  type Middleware,
  MiddlewareError,
  ReActAgent,
  StateTooLargeError,
  textOf,
  userMessage,
} from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { agentsWithSecrets, redaction, type Seen, slot } from "./agents-with-secrets.js";
import { door } from "./door.js";

describe.each([true, false])("onIncoming of input, fused: %s", (fused) => {
  const make = agentsWithSecrets(fused);

  test("changes input before anything stores it, and gets no state", async () => {
    const seen: Seen[] = [];
    const { agent, model, stored } = make(["hello"], [redaction(seen)]);
    const ctx = { callId: "c-1", extra: { trace: 7 } };
    await agent.call([userMessage("my secret", { id: "m-1" }), userMessage("more")], ctx);
    expect(seen.map(({ message }) => textOf(message))).toEqual(["my secret", "more"]);
    const { step } = seen[0] as (typeof seen)[number];
    expect(step).toMatchObject({ slot, callId: "c-1", origin: "input" });
    expect(step.ctx.get("trace")).toBe(7);
    expect(step.ctx.agentState).toBe(undefined);
    expect(step.signal).toBeInstanceOf(AbortSignal);
    expect(JSON.stringify(model.requests[0]?.messages)).not.toContain("secret");
    expect(await stored()).not.toContain("secret");
    expect((await agent.getAgentState())?.context[0]).toMatchObject({
      id: "m-1",
      content: [{ type: "text", text: "my [hidden]" }],
    });
  });

  test("is a pipeline in the order of middleware; onCall and events come after it", async () => {
    const adding = (letter: string): Middleware => ({
      name: letter,
      onIncoming: (message) => userMessage(`${textOf(message)}${letter}`),
      onCall: async (step, next) => {
        said.push(...step.input.map(textOf));
        return next();
      },
    });
    const said: string[] = [];
    const { agent, model } = make(["hello"], [adding("x"), { ...adding("y"), before: "x" }]);
    await agent.call("go");
    expect(model.requests[0]?.messages.map(textOf)).toEqual(["goyx"]);
    expect(said).toEqual(["goyx", "goyx"]);
  });

  test("emits events of its call", async () => {
    const types: string[] = [];
    const { agent } = make(
      ["hello"],
      [
        {
          name: "m",
          onIncoming(message, step) {
            step.emit({ type: "error", code: "NOTE", message: "seen" });
            return message;
          },
        },
      ],
    );
    for await (const { type } of agent.stream("go")) types.push(type);
    expect(types.slice(0, 2)).toEqual(["call_start", "error"]);
  });

  test("cannot emit what is no event", async () => {
    const { agent } = make(
      ["hello"],
      [
        {
          name: "m",
          onIncoming(message, step) {
            step.emit({} as never);
            return message;
          },
        },
      ],
    );
    await expect(agent.call("go")).rejects.toMatchObject({ code: "INVALID_INPUT" });
  });

  test("keeps calls in their order, although the first takes longer", async () => {
    const slow = door();
    const order: string[] = [];
    const { agent } = make(
      ["1", "2"],
      [
        {
          name: "slow",
          async onIncoming(message) {
            if (textOf(message) === "first") await slow.opened;
            order.push(textOf(message));
            return message;
          },
        },
      ],
    );
    const calls = [agent.call("first"), agent.call("second")];
    await new Promise((resolve) => setImmediate(resolve));
    slow.open();
    expect((await Promise.all(calls)).map(({ text }) => text)).toEqual(["1", "2"]);
    expect(order).toEqual(["first", "second"]);
  });

  test("a hook that throws fails the call, and nothing is stored", async () => {
    const { agent, stored, model } = make(
      ["hello"],
      [
        {
          name: "m",
          onIncoming: () => {
            throw new Error("not allowed");
          },
        },
      ],
    );
    await expect(agent.call("a secret")).rejects.toThrow("not allowed");
    expect(await agent.getAgentState()).toBe(null);
    expect(await stored()).not.toContain("secret");
    expect(model.requests).toEqual([]);
  });

  test.each<[string, Message]>([
    [
      "a message of role assistant in place of one of role user",
      { ...userMessage("x"), role: "assistant" },
    ],
    [
      "a message with other tool calls or results than the one it got",
      { ...userMessage("x"), content: [{ type: "tool_call", id: "1", name: "tells", input: {} }] },
    ],
    [
      "something else than was asked for: not a message: content is not a list",
      { ...userMessage("x"), content: "x" as never },
    ],
  ])("a hook that returns %s fails this call only", async (problem, wrong) => {
    let isBad = true;
    const { agent } = make(
      ["hello"],
      [{ name: "m", onIncoming: (message) => (isBad ? wrong : message) }],
    );
    const error: unknown = await agent.call("go").catch((thrown: unknown) => thrown);
    expect(MiddlewareError.is(error) && error.message).toBe(
      `middleware "m": onIncoming returned ${problem}`,
    );
    isBad = false;
    expect((await agent.call("go")).text).toBe("hello");
    expect((await agent.getAgentState())?.context).toHaveLength(2);
  });

  test("what it returns has to fit the limits", async () => {
    const { agent, model } = make(
      ["hello"],
      [{ name: "m", onIncoming: () => userMessage("x".repeat(2_000)) }],
      { limits: { messageBytes: 1_000 } },
    );
    await expect(agent.call("go")).rejects.toThrow(StateTooLargeError);
    expect(model.requests).toEqual([]);
  });

  test("a hook that hangs ends with the caller's signal, and at a shutdown", async () => {
    const reached = [door(), door()];
    let calls = 0;
    const { agent } = make(
      ["hello"],
      [
        {
          name: "hangs",
          onIncoming() {
            reached[calls++]?.open();
            return new Promise(() => undefined);
          },
        },
      ],
    );
    const controller = new AbortController();
    const aborted = agent.call("go", { signal: controller.signal });
    await reached[0]?.opened;
    controller.abort();
    await expect(aborted).rejects.toMatchObject({ code: "ABORTED" });
    const drained = agent.call("go");
    await reached[1]?.opened;
    await Promise.all([
      expect(drained).rejects.toMatchObject({ code: "SHUTTING_DOWN" }),
      agent.shutdown(),
    ]);
  });

  test("a repeated callId is recognised by the input as it was given", async () => {
    let count = 0;
    const { agent } = make(
      ["first", "second"],
      [{ name: "numbers", onIncoming: () => userMessage(`number ${++count}`) }],
    );
    const ctx = { callId: "c-1" };
    expect((await agent.call("go", ctx)).text).toBe("first");
    expect((await agent.call("go", ctx)).text).toBe("first");
    await expect(agent.call("something else", ctx)).rejects.toThrow(CallIdReusedError);
    expect((await agent.getAgentState())?.context.map(textOf)).toEqual(["number 1", "first"]);
  });

  test("a call that is repeated after a failure goes on with the words that were stored", async () => {
    let count = 0;
    const { agent, model } = make(
      [{ error: new Error("down") }, "answer"],
      [{ name: "numbers", onIncoming: () => userMessage(`number ${++count}`) }],
    );
    const ctx = { callId: "c-1" };
    await expect(agent.call("go", ctx)).rejects.toThrow("down");
    expect((await agent.call("go", ctx)).text).toBe("answer");
    expect(model.requests.at(-1)?.messages.map(textOf)).toEqual(["number 1"]);
  });

  test("resume does not run it on what is stored", async () => {
    const seen: Seen[] = [];
    const { agent, model } = make([{ error: new Error("down") }, "answer"], [redaction(seen)]);
    await expect(agent.call("a secret")).rejects.toThrow("down");
    expect((await agent.resume({ sessionId: "default" }))?.text).toBe("answer");
    expect(model.requests.at(-1)?.messages.map(textOf)).toEqual(["a [hidden]"]);
    expect(seen).toHaveLength(1);
  });

  test("what waits in the inbox was seen before it was put there", async () => {
    const seen: Seen[] = [];
    const { agent, store } = make(["answer"], [redaction(seen)]);
    const said = userMessage("kept");
    const heard = userMessage("stop");
    const at = new Date().toISOString();
    const body = (input: object) => JSON.parse(JSON.stringify(input));
    await store.inbox?.put(slot, {
      ...{ id: "r-0", kind: "input", callId: "c-0", at },
      body: body({ input: { kind: "messages", messages: [said], foreignIds: false } }),
    });
    await store.inbox?.put(slot, {
      ...{ id: heard.id, kind: "interrupt", callId: "c-0", at },
      body: body({ message: heard }),
    });
    await agent.call("go");
    expect((await agent.getAgentState())?.context.map(textOf)).toEqual([
      "kept",
      "stop",
      "go",
      "answer",
    ]);
    expect(seen.map(({ message }) => textOf(message))).toEqual(["go"]);
  });
});

test("an agent that is closed starts nothing again to pass on the message of an interrupt", async () => {
  const ran: string[] = [];
  const plugin = definePlugin({
    name: "mine",
    contract: 1,
    setup(host) {
      host.onStart(async () => void ran.push("start"));
      host.onClose(() => void ran.push("close"));
      host.use({ name: "mine", onIncoming: (message) => message });
    },
  });
  const agent = new ReActAgent({ name: "a", model: scriptedModel([]), plugins: [plugin] });
  await agent.close();
  await expect(agent.interrupt("u", "s", "stop")).rejects.toMatchObject({ code: "SHUTTING_DOWN" });
  expect(await agent.interrupt("u", "s")).toBe(false);
  expect(ran).toEqual(["close"]);
});
