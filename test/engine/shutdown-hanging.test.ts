import {
  type AgentEvent,
  InMemoryAgentStateStore,
  type PluginHost,
  type ReActAgent,
  ShuttingDownError,
  tool,
} from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { agentOn } from "./agent-on.js";
import { outline } from "./conversation.js";
import { door } from "./door.js";
import { type CommandName, FaultyStore, noAnswer } from "./faulty-store.js";
import { stallingModel } from "./models.js";

const ctx = { sessionId: "s" };
/** Small limits: each of these tests waits for something that never comes. */
const brief = { saveDeadlineMs: 200 };
const never = () => new Promise<never>(() => undefined);

const plugin = (name: string, setup: (host: PluginHost) => void) => ({
  name,
  contract: 1 as const,
  setup,
});

/** Runs `call` and shuts down once `reached`; resolves to what became of both. */
async function shutDownDuring(
  agent: ReActAgent,
  reached: Promise<unknown>,
  call: () => Promise<unknown>,
) {
  const outcome = call().then(
    (reply) => ({ reply, error: undefined }),
    (error: unknown) => ({ reply: undefined, error }),
  );
  await reached;
  const report = await agent.shutdown({ timeoutMs: 20 });
  expect(agent.lifecycle).toBe("closed");
  return { report, ...(await outcome) };
}

describe.each([true, false])("a shutdown ends, fused: %s", (fused) => {
  test.each<CommandName>([
    "acquire",
    ...(fused ? [] : (["load", "readInbox"] as const)),
    "save",
    ...(fused ? [] : (["append"] as const)),
  ])("when the store never answers %s, and the call fails for its caller", async (name) => {
    const store = new FaultyStore({ fused });
    const reached = door();
    store.every(name, (run, command) => {
      reached.open();
      return noAnswer(run, command);
    });
    const events: AgentEvent[] = [];
    const agent = agentOn(store, { ...brief, onEvent: (event) => events.push(event) });
    const { error } = await shutDownDuring(agent, reached.opened, () => agent.call("go", ctx));
    expect(error).toBeInstanceOf(Error);
    expect(events.at(-1)).toMatchObject({ type: "call_end", reason: "error" });
  });

  test("when a store dies after the call began: nothing that was said is lost", async () => {
    const store = new FaultyStore({ fused });
    const reached = door();
    const agent = agentOn(store, {
      ...brief,
      model: stallingModel("half", () => {
        store.every("save", noAnswer);
        store.every("append", noAnswer);
        reached.open();
      }),
    });
    const { report, error } = await shutDownDuring(agent, reached.opened, () =>
      agent.call("keep these words", ctx),
    );
    expect(report).toMatchObject({ calls: 1, cut: 1 });
    expect(error).toBeInstanceOf(Error);
    store.every("save", undefined);
    store.every("append", undefined);
    const model = scriptedModel(["answered"]);
    const next = agentOn(store.inner, { model });
    expect((await next.resume(null, "s"))?.text).toBe("answered");
    expect(outline(model.requests[0]?.messages)).toContain("user: keep these words");
  });

  test("when a plugin's onStart never ends: the call leaves at once", async () => {
    const reached = door();
    const hanging = plugin("hanging", (host) =>
      host.onStart(() => {
        reached.open();
        return never();
      }),
    );
    const agent = agentOn(new InMemoryAgentStateStore({ fused }), { plugins: [hanging] });
    const calling = () => agent.call("go", ctx);
    const { report, error } = await shutDownDuring(agent, reached.opened, calling);
    expect(report).toEqual({ calls: 1, cut: 0 });
    expect(ShuttingDownError.is(error)).toBe(true);
  });

  test("when onStart never ends while a session is edited", async () => {
    const reached = door();
    const hanging = plugin("hanging", (host) =>
      host.onStart(() => {
        reached.open();
        return never();
      }),
    );
    const agent = agentOn(new InMemoryAgentStateStore({ fused }), { plugins: [hanging] });
    const edit = () => agent.updateAgentState(null, "s", () => undefined);
    const { error } = await shutDownDuring(agent, reached.opened, edit);
    expect(ShuttingDownError.is(error)).toBe(true);
  });

  test("when a tool ignores its signal: the call is saved without it", async () => {
    const store = new InMemoryAgentStateStore({ fused });
    const reached = door();
    const deaf = tool({
      name: "deaf",
      description: "Never ends.",
      input: z.object({}),
      execute: () => {
        reached.open();
        return never();
      },
    });
    const agent = agentOn(store, {
      tools: [deaf],
      model: scriptedModel([{ toolCalls: [{ name: "deaf", input: {} }] }]),
    });
    const { report, reply } = await shutDownDuring(agent, reached.opened, () =>
      agent.call("go", ctx),
    );
    expect(report).toEqual({ calls: 1, cut: 1 });
    expect(reply).toMatchObject({ reason: "shutdown" });
    expect(outline(await agentOn(store).getAgentState(null, "s"))[0]).toBe("user: go");
  });

  test("when the model never ends: what it had said is kept", async () => {
    const store = new InMemoryAgentStateStore({ fused });
    const reached = door();
    const agent = agentOn(store, { model: stallingModel("half", reached.open) });
    const { reply } = await shutDownDuring(agent, reached.opened, () => agent.call("go", ctx));
    expect(reply).toMatchObject({ reason: "shutdown", text: "half" });
    expect(outline(await agentOn(store).getAgentState(null, "s"))).toEqual([
      "user: go",
      "assistant: half",
    ]);
  });

  test("when a hook never returns: the call is abandoned, its input kept, and the report says so", async () => {
    const store = new InMemoryAgentStateStore({ fused });
    const reached = door();
    const middleware = [
      {
        name: "stuck",
        onReasoning: () => {
          reached.open();
          return never();
        },
      },
    ];
    const agent = agentOn(store, { ...brief, middleware });
    const { report, error } = await shutDownDuring(agent, reached.opened, () =>
      agent.call("go", { ...ctx, callId: "stuck-call" }),
    );
    expect(report).toEqual({ calls: 1, cut: 1, abandoned: ['call "stuck-call"'] });
    expect(ShuttingDownError.is(error)).toBe(true);
    expect((error as Error).message).toMatch(/session "s"/);
    expect(outline(await agentOn(store).getAgentState(null, "s"))).toEqual(["user: go"]);
  });

  test("when a subscription to signals neither opens nor closes", async () => {
    for (const hangs of ["listen", "close"] as const) {
      const parts = new InMemoryAgentStateStore({ fused }).companions();
      const reached = door();
      const agent = agentOn(parts.stateStore, {
        ...brief,
        gate: parts.gate,
        signals: {
          contract: 1,
          kind: "hanging",
          reach: "process",
          send: async () => false,
          listen: async () => {
            if (hangs === "listen") reached.open();
            if (hangs === "listen") return never();
            return {
              close: () => {
                reached.open();
                return never();
              },
            };
          },
        },
      });
      const { error } = await shutDownDuring(agent, reached.opened, () => agent.call("go", ctx));
      expect(error === undefined).toBe(hangs === "close");
    }
  });
});

test("by default calls get 20 s, and all is over 5 s later", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const store = new FaultyStore({ fused: true });
  const reached = door();
  const agent = agentOn(store, {
    model: stallingModel("half", () => {
      store.every("save", noAnswer);
      reached.open();
    }),
  });
  const events: string[] = [];
  const running = agent.call("go", ctx).catch(() => events.push("call failed"));
  await reached.opened;
  const ended = agent.shutdown().then(() => events.push("shut down"));
  await vi.advanceTimersByTimeAsync(19_999);
  expect([store.of("save").length, events]).toEqual([0, []]);
  await vi.advanceTimersByTimeAsync(1);
  expect([store.of("save").length, events]).toEqual([1, []]);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(events).toEqual(["call failed", "shut down"]);
  await Promise.all([running, ended]);
});

describe("closing", () => {
  const order = () => {
    const closed: string[] = [];
    const closer = (name: string, run: () => unknown = () => undefined) =>
      plugin(name, (host) =>
        host.onClose(async () => {
          closed.push(name);
          await run();
        }),
      );
    return { closed, closer };
  };

  test.each(["shutdown", "close"] as const)(
    "%s ends although a plugin's onClose never does, closes the others and names it",
    async (how) => {
      const { closed, closer } = order();
      const agent = agentOn(new InMemoryAgentStateStore(), {
        ...brief,
        plugins: [closer("first"), closer("hanging", never), closer("last")],
      });
      const ended = agent[how]({ timeoutMs: 20 });
      if (how === "close") await expect(ended).rejects.toThrow(/plugin "hanging"/);
      else expect(await ended).toEqual({ calls: 0, cut: 0, abandoned: ['plugin "hanging"'] });
      expect(closed).toEqual(["last", "hanging", "first"]);
    },
  );

  test("a failing onClose keeps none of the others from closing, and is thrown", async () => {
    const { closed, closer } = order();
    const broken = closer("broken", () => {
      throw new Error("cannot close");
    });
    const agent = agentOn(new InMemoryAgentStateStore(), {
      plugins: [closer("first"), broken, closer("last")],
    });
    await expect(agent.close()).rejects.toThrow("cannot close");
    expect(closed).toEqual(["last", "broken", "first"]);
  });

  test("close() cuts a call that does not end in time, and saves it", async () => {
    const store = new InMemoryAgentStateStore();
    const reached = door();
    const agent = agentOn(store, { model: stallingModel("half", reached.open) });
    const running = agent.call("go", ctx);
    await reached.opened;
    await agent.close({ timeoutMs: 20 });
    expect(await running).toMatchObject({ reason: "shutdown", text: "half" });
  });

  test("a second shutdown with less time shortens the first", async () => {
    const store = new InMemoryAgentStateStore();
    const reached = door();
    const agent = agentOn(store, { model: stallingModel("half", reached.open) });
    const running = agent.call("go", ctx);
    await reached.opened;
    const first = agent.shutdown({ timeoutMs: 3_600_000 });
    await agent.shutdown({ timeoutMs: 0 });
    await first;
    expect((await running).reason).toBe("shutdown");
  });
});
