import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import {
  type AgentStateStore,
  InMemoryAgentStateStore,
  listGuard,
  type PluginHost,
  ReActAgent,
  type ReActAgentOptions,
  ShuttingDownError,
  type Tool,
  tool,
} from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { expectPaired, logRecords, outcomes, outline, slotOf } from "./conversation.js";
import { door } from "./door.js";
import { FaultyStore } from "./faulty-store.js";
import { modelOf, stallingModel } from "./models.js";

const ctx = { sessionId: "s" };
const none = z.object({});
const twoCalls = { toolCalls: ["one", "two"].map((name) => ({ name, input: {} })) };

/** Timers of one length fire in the order they were set: whatever was set for 1 ms has fired after this. */
function afterTimersOf1Ms(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1));
}

/** Two tools that count how often they ran. */
function counting(): { tools: Tool[]; ran: string[] } {
  const ran: string[] = [];
  const tools = ["one", "two"].map((name) =>
    tool({
      name,
      description: "Counts.",
      input: none,
      execute: () => {
        ran.push(name);
        return `${name} done`;
      },
    }),
  );
  return { tools, ran };
}

describe.each([true, false])("shutdown, fused: %s", (fused) => {
  const newStore = () => new InMemoryAgentStateStore({ fused });
  const agentOn = (store: AgentStateStore, options: Partial<ReActAgentOptions> = {}) =>
    new ReActAgent({ name: "a", model: scriptedModel(() => "ok"), stateStore: store, ...options });

  /** Shuts an agent down while its model is about to answer with two tool calls. */
  async function cutBeforeTools(store: AgentStateStore, callId?: string) {
    const [reached, release] = [door(), door()];
    const { tools, ran } = counting();
    const agent = agentOn(store, {
      tools,
      model: scriptedModel(async () => {
        reached.open();
        await release.opened;
        return twoCalls;
      }),
    });
    const running = agent.call("do both", { ...ctx, callId });
    await reached.opened;
    const shutdown = agent.shutdown();
    release.open();
    const [reply, report] = await Promise.all([running, shutdown]);
    expect(reply.reason).toBe("shutdown");
    expect(report).toEqual({ calls: 1, cut: 0 });
    expect(ran).toEqual([]);
  }

  test("goes from running over draining to closed, and takes no calls on the way", async () => {
    const [reached, release] = [door(), door()];
    const store = newStore();
    const agent = agentOn(store, {
      model: scriptedModel(async () => {
        reached.open();
        await release.opened;
        return "done";
      }),
    });
    expect(agent.lifecycle).toBe("running");
    const running = agent.call("1", ctx);
    await reached.opened;
    const shutdown = agent.shutdown();
    expect(agent.lifecycle).toBe("draining");
    const attempts = () => [
      agent.call("2", { sessionId: "other" }),
      agent.stream("2", { sessionId: "other" }).result,
      agent.updateAgentState(null, "other", () => undefined),
      agent.deleteSession(null, "other"),
    ];
    for (const attempt of attempts()) await expect(attempt).rejects.toSatisfy(ShuttingDownError.is);
    release.open();
    expect((await running).reason).toBe("stop");
    await shutdown;
    expect(agent.lifecycle).toBe("closed");
    for (const attempt of attempts()) await expect(attempt).rejects.toSatisfy(ShuttingDownError.is);
    expect(await store.load(slotOf("other"))).toBeNull();
  });

  test("a stream that is refused ends instead of keeping its reader waiting", async () => {
    const agent = agentOn(newStore());
    await agent.shutdown();
    const run = agent.stream("1", ctx);
    const types: string[] = [];
    for await (const { type } of run) types.push(type);
    expect(types.at(-1)).toBe("call_end");
    await expect(run.result).rejects.toSatisfy(ShuttingDownError.is);
  });

  test("calls that wait leave with ShuttingDownError and no trace; the running one ends", async () => {
    const [reached, release] = [door(), door()];
    const store = newStore();
    const agent = agentOn(store, {
      model: scriptedModel(async () => {
        reached.open();
        await release.opened;
        return "done";
      }),
    });
    const running = agent.call("1", ctx);
    await reached.opened;
    const waiting = [agent.call("2", ctx), agent.call("3", ctx)];
    const update = agent.updateAgentState(null, "s", () => undefined);
    const shutdown = agent.shutdown();
    for (const call of [...waiting, update])
      await expect(call).rejects.toSatisfy(ShuttingDownError.is);
    release.open();
    await Promise.all([running, shutdown]);
    expect(outline(await agent.getAgentState(null, "s"))).toEqual(["user: 1", "assistant: done"]);
  });

  test("after a reply with tool calls: the calls are left pending, and nothing of them ran", async () => {
    const store = newStore();
    await cutBeforeTools(store);
    const state = await agentOn(store).getAgentState(null, "s");
    expect(state?.shutdownInterrupted).toBe(true);
    expect(Object.values(state?.openCalls ?? {})).toEqual(["pending", "pending"]);
    expect(outline(state)).toEqual(["user: do both", "assistant: call one + call two"]);
    expect(outcomes(await logRecords(store, slotOf()))).toEqual(["interrupted"]);
  });

  test("the next call, on another agent, runs the calls that were not started, once, and then its own input", async () => {
    const store = newStore();
    await cutBeforeTools(store);
    const { tools, ran } = counting();
    const model = scriptedModel(["both done", "later"]);
    const agent = agentOn(store, { tools, model });
    const reply = await agent.call("and this", ctx);
    expect(reply).toMatchObject({ reason: "stop", text: "both done" });
    expect(ran.sort()).toEqual(["one", "two"]);
    expectPaired(model.requests[0]?.messages ?? []);
    expect(outline(model.requests[0]?.messages)).toEqual([
      "user: do both",
      "assistant: call one + call two",
      "tool: success one done + success two done",
      "user: and this",
    ]);
    const state = await agent.getAgentState(null, "s");
    expect(state?.shutdownInterrupted).toBe(false);
    expect(state?.openCalls).toEqual({});
    await agent.call("later", ctx);
    expect(ran).toHaveLength(2);
  });

  test("empty input resumes and adds nothing", async () => {
    const store = newStore();
    await cutBeforeTools(store);
    const { tools, ran } = counting();
    const model = scriptedModel(["both done"]);
    const reply = await agentOn(store, { tools, model }).call([], ctx);
    expect(reply.text).toBe("both done");
    expect(ran).toHaveLength(2);
    expect(outline(model.requests[0]?.messages)).toEqual([
      "user: do both",
      "assistant: call one + call two",
      "tool: success one done + success two done",
    ]);
  });

  test("the same callId again resumes without saying the input twice, and is then answered from memory", async () => {
    const store = newStore();
    await cutBeforeTools(store, "id-1");
    const { tools, ran } = counting();
    const model = scriptedModel(["both done"]);
    const agent = agentOn(store, { tools, model });
    const reply = await agent.call("do both", { ...ctx, callId: "id-1" });
    expect(reply).toMatchObject({ reason: "stop", text: "both done", callId: "id-1" });
    expect(ran).toHaveLength(2);
    const again = await agent.call("do both", { ...ctx, callId: "id-1" });
    expect(again.text).toBe("both done");
    expect(model.requests).toHaveLength(1);
    const said = outline(await agent.getAgentState(null, "s"));
    expect(said.filter((line) => line === "user: do both")).toHaveLength(1);
  });

  test("while tools run: they finish, their results are kept, and the next call goes on from there", async () => {
    const store = newStore();
    const [reached, release] = [door(), door()];
    const slow = tool({
      name: "slow",
      description: "Takes its time.",
      input: none,
      execute: async () => {
        reached.open();
        await release.opened;
        return "kept";
      },
    });
    const script = [{ toolCalls: [{ name: "slow", input: {} }] }, "never"];
    const first = scriptedModel(script);
    const agent = agentOn(store, { model: first, tools: [slow] });
    const running = agent.call("go", ctx);
    await reached.opened;
    const shutdown = agent.shutdown();
    release.open();
    expect((await running).reason).toBe("shutdown");
    await shutdown;
    expect(first.requests).toHaveLength(1);
    const state = await agent.getAgentState(null, "s");
    expect(state?.shutdownInterrupted).toBe(true);
    expect(state?.openCalls).toEqual({});
    const model = scriptedModel(["goes on"]);
    await agentOn(store, { model, tools: [slow] }).call("next", ctx);
    expect(outline(model.requests[0]?.messages)).toEqual([
      "user: go",
      "assistant: call slow",
      "tool: success kept",
      "user: next",
    ]);
  });

  test("before the first step: the input is kept, never dropped", async () => {
    const store = new FaultyStore({ fused });
    const [acquiring, release] = [door(), door()];
    store.next("acquire", async (run) => {
      const lease = await run();
      acquiring.open();
      await release.opened;
      return lease;
    });
    const agent = agentOn(store);
    const running = agent.call("early", ctx);
    await acquiring.opened;
    const shutdown = agent.shutdown();
    release.open();
    expect((await running).reason).toBe("shutdown");
    await shutdown;
    const model = scriptedModel(["answered"]);
    await agentOn(store, { model }).call([], ctx);
    expect(outline(model.requests[0]?.messages)).toEqual(["user: early"]);
  });

  describe("when the time is up", () => {
    test("a model that hangs is cut; its half reply is left out, to be asked again", async () => {
      const store = newStore();
      const reached = door();
      const agent = agentOn(store, { model: stallingModel("half", reached.open) });
      const running = agent.call("go", ctx);
      await reached.opened;
      const report = await agent.shutdown({ timeoutMs: 5 });
      expect(report).toEqual({ calls: 1, cut: 1 });
      expect((await running).reason).toBe("shutdown");
      const model = scriptedModel(["whole"]);
      await agentOn(store, { model }).call([], ctx);
      expect(outline(model.requests[0]?.messages)).toEqual(["user: go"]);
    });

    test("a tool that hangs is cut: finished results are kept, its own outcome is unknown", async () => {
      const store = newStore();
      const [reached, oneDone] = [door(), door()];
      const { tools, ran } = counting();
      const hang = tool({
        name: "hang",
        description: "Never ends.",
        input: none,
        execute: () => {
          reached.open();
          return new Promise(() => undefined);
        },
      });
      const script = [{ toolCalls: ["one", "hang"].map((name) => ({ name, input: {} })) }];
      const agent = agentOn(store, {
        model: scriptedModel(script),
        tools: [...tools, hang],
        onEvent: ({ type }) => type === "tool_result" && oneDone.open(),
      });
      const running = agent.call("go", ctx);
      await Promise.all([reached.opened, oneDone.opened]);
      await agent.shutdown({ timeoutMs: 5 });
      expect((await running).reason).toBe("shutdown");
      const model = scriptedModel(["on"]);
      await agentOn(store, { model, tools: [...tools, hang] }).call("next", ctx);
      expect(ran).toEqual(["one"]);
      expectPaired(model.requests[0]?.messages ?? []);
      expect(outline(model.requests[0]?.messages)).toEqual([
        "user: go",
        "assistant: call one + call hang",
        expect.stringMatching(/^tool: success one done \+ interrupted .*unknown/),
        "user: next",
      ]);
    });

    test("an update or a compaction that hangs is cut with ShuttingDownError, and saves nothing", async () => {
      const store = newStore();
      const [updating, compacting] = [door(), door()];
      const agent = agentOn(store, {
        plugins: [
          {
            name: "hanging",
            contract: 1,
            setup: (host) =>
              host.provide("compactor", {
                compact: () => {
                  compacting.open();
                  return new Promise(() => undefined);
                },
              }),
          },
        ],
      });
      const work = [
        agent.updateAgentState(null, "s", () => {
          updating.open();
          return new Promise(() => undefined);
        }),
        agent.compact(null, "t"),
      ];
      await Promise.all([updating.opened, compacting.opened]);
      const shutdown = agent.shutdown({ timeoutMs: 5 });
      for (const one of work) await expect(one).rejects.toSatisfy(ShuttingDownError.is);
      await shutdown;
      expect(await store.load(slotOf())).toBeNull();
    });

    test("no time limit means none", async () => {
      const [reached, release] = [door(), door()];
      const agent = agentOn(newStore(), {
        model: scriptedModel(async () => {
          reached.open();
          await release.opened;
          return "done";
        }),
      });
      const running = agent.call("go", ctx);
      await reached.opened;
      const shutdown = agent.shutdown({ timeoutMs: Number.POSITIVE_INFINITY });
      // A timer that overflows is one of 1 ms.
      await afterTimersOf1Ms();
      release.open();
      expect((await running).reason).toBe("stop");
      expect((await shutdown).cut).toBe(0);
    });

    test("a call cut while the session waits for a person keeps asking, and drops no input", async () => {
      const store = new FaultyStore({ fused });
      const { tools, ran } = counting();
      const asking = {
        tools,
        plugins: [
          {
            name: "guard",
            contract: 1 as const,
            setup: (host: PluginHost) =>
              host.provide("toolGuard", listGuard({ ask: ["one", "two"] })),
          },
        ],
      };
      const first = agentOn(store, { ...asking, model: scriptedModel([twoCalls]) });
      const paused = await first.call("do both", ctx);
      if (paused.reason !== "permission_asking") throw new Error(paused.reason);
      const [one, two] = paused.pending;
      const [acquiring, release] = [door(), door()];
      store.next("acquire", async (run) => {
        const lease = await run();
        acquiring.open();
        await release.opened;
        return lease;
      });
      const second = agentOn(store, asking);
      const confirm = [{ callId: one?.callId ?? "", approve: true }];
      const half = second.call({ confirm }, ctx);
      await acquiring.opened;
      const shutdown = second.shutdown({ timeoutMs: 1 });
      await afterTimersOf1Ms();
      release.open();
      expect((await half).reason).toBe("shutdown");
      await shutdown;
      const model = scriptedModel(["all done"]);
      const third = agentOn(store, { ...asking, model });
      await expect(third.call("never mind?", ctx)).rejects.toMatchObject({
        code: "PENDING_CONFIRMATION",
      });
      expect(ran).toEqual([]);
      const rest = [{ callId: two?.callId ?? "", approve: true }];
      expect((await third.call({ confirm: rest }, ctx)).text).toBe("all done");
      expect(ran.sort()).toEqual(["one", "two"]);
      expectPaired(model.requests[0]?.messages ?? []);
    });
  });

  test("close() waits for running and waiting calls without stopping them", async () => {
    const store = newStore();
    const [reached, release] = [door(), door()];
    const { tools } = counting();
    const model = modelOf((request, index) =>
      scriptedModel(async () => {
        if (index > 0) return `answer ${index}`;
        reached.open();
        await release.opened;
        return twoCalls;
      }).stream(request),
    );
    const agent = agentOn(store, { model, tools });
    const running = agent.call("1", ctx);
    await reached.opened;
    const waiting = agent.call("2", ctx);
    let closed = false;
    const closing = agent.close().then(() => {
      closed = true;
    });
    await expect(agent.call("3", ctx)).rejects.toSatisfy(ShuttingDownError.is);
    expect(closed).toBe(false);
    release.open();
    expect(await running).toMatchObject({ reason: "stop", text: "answer 1" });
    expect(await waiting).toMatchObject({ reason: "stop", text: "answer 2" });
    await closing;
    expect(agent.lifecycle).toBe("closed");
  });

  test("every close() and shutdown() waits for what plugins do at the end, and it is done once", async () => {
    const [began, release] = [door(), door()];
    let runs = 0;
    let ended = 0;
    const agent = agentOn(newStore(), {
      plugins: [
        {
          name: "slow-end",
          contract: 1,
          setup: (host) =>
            host.onClose(async () => {
              runs++;
              began.open();
              await release.opened;
              ended++;
            }),
        },
      ],
    });
    const first = agent.shutdown();
    await began.opened;
    const others = [agent.close(), agent.shutdown()].map(async (one) => {
      await one;
      expect(ended).toBe(1);
    });
    release.open();
    await Promise.all([first, ...others]);
    expect(runs).toBe(1);
  });
});

describe("signal handlers in a program of their own", () => {
  let child: ChildProcess | undefined;
  afterEach(() => {
    if (child?.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
  });

  function start(mode: string): AsyncIterator<string> {
    const script = fileURLToPath(new URL("./signal-child.mjs", import.meta.url));
    child = spawn(process.execPath, [script, mode], { stdio: ["ignore", "pipe", "inherit"] });
    if (!child.stdout) throw new Error("no stdout");
    return createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  }
  const nextLine = async (lines: AsyncIterator<string>) => (await lines.next()).value;

  test("SIGTERM stops the call at a safe point, saves it, and then ends the process by the signal", async () => {
    const lines = start("gentle");
    expect(await nextLine(lines)).toBe("running");
    const exit = once(child as ChildProcess, "exit");
    child?.kill("SIGTERM");
    expect(await nextLine(lines)).toBe("draining");
    expect(await nextLine(lines)).toBe("saved shutdownInterrupted=true messages=3");
    expect(await nextLine(lines)).toBe("ended shutdown");
    expect(await exit).toEqual([null, "SIGTERM"]);
  }, 30_000);

  test("a second SIGTERM ends the process at once", async () => {
    const lines = start("stubborn");
    expect(await nextLine(lines)).toBe("running");
    const exit = once(child as ChildProcess, "exit");
    child?.kill("SIGTERM");
    expect(await nextLine(lines)).toBe("draining");
    child?.kill("SIGTERM");
    expect(await exit).toEqual([null, "SIGTERM"]);
    expect(await nextLine(lines)).toBeUndefined();
  }, 30_000);
});
