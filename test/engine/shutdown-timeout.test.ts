import {
  InMemoryAgentStateStore,
  listGuard,
  type PluginHost,
  ShuttingDownError,
  tool,
} from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { agentOn } from "./agent-on.js";
import { expectPaired, outline, slotOf } from "./conversation.js";
import { counting, twoCalls } from "./counting-tools.js";
import { door } from "./door.js";
import { FaultyStore } from "./faulty-store.js";
import { stallingModel } from "./models.js";

const ctx = { sessionId: "s" };
const none = z.object({});

/** Timers of one length fire in the order they were set: whatever was set for 1 ms has fired after this. */
function afterTimersOf1Ms(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1));
}

describe.each([true, false])("a shutdown whose time is up, fused: %s", (fused) => {
  const newStore = () => new InMemoryAgentStateStore({ fused });
  test("a model that hangs is cut; what it had said is kept, and the next call goes on behind it", async () => {
    const store = newStore();
    const reached = door();
    const agent = agentOn(store, { model: stallingModel("half", reached.open) });
    const running = agent.call("go", ctx);
    await reached.opened;
    const report = await agent.shutdown({ timeoutMs: 5 });
    expect(report).toEqual({ calls: 1, cut: 1 });
    expect(await running).toMatchObject({ reason: "shutdown", text: "half" });
    const model = scriptedModel(["whole"]);
    const next = agentOn(store, { model });
    await next.call([], ctx);
    const cut = ["user: go", "assistant: half"];
    expect(outline(model.requests[0]?.messages)).toEqual([
      ...cut,
      expect.stringMatching(/^user: hint Your reply above was cut off/),
    ]);
    expect(model.requests[0]?.messages.at(-1)?.content).toMatchObject([{ source: "cut_off" }]);
    // The hint is part of the request alone.
    expect(outline(await next.getAgentState(null, "s"))).toEqual([...cut, "assistant: whole"]);
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
    const confirm = [{ toolCallId: one?.toolCallId ?? "", approve: true }];
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
    const rest = [{ toolCallId: two?.toolCallId ?? "", approve: true }];
    expect((await third.call({ confirm: rest }, ctx)).text).toBe("all done");
    expect(ran.sort()).toEqual(["one", "two"]);
    expectPaired(model.requests[0]?.messages ?? []);
  });
});
