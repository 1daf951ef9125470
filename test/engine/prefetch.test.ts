import {
  definePlugin,
  InMemoryAgentStateStore,
  keepLastCompactor,
  type Plugin,
  type SessionGate,
} from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { agentOn } from "./agent-on.js";
import { outline } from "./conversation.js";
import { door } from "./door.js";
import { stallingModel } from "./models.js";
import { callNoop, noop } from "./noop-tool.js";

const ctx = { userId: "ann", sessionId: "s" };

/** A plugin with a section of the prompt, which notes when it fetches and when it appends. */
function section(fetch: () => Promise<void> = async () => undefined): {
  readonly did: string[];
  readonly plugin: Plugin;
} {
  const did: string[] = [];
  const plugin = definePlugin({
    name: "section",
    contract: 1,
    setup: (host) =>
      host.promptSection(
        (prompt, { slot }) => {
          did.push(`append ${slot.sessionId}`);
          return prompt;
        },
        async ({ slot, ctx: { userId } }) => {
          did.push(`fetch ${userId} ${slot.sessionId}`);
          await fetch();
          did.push("fetched");
        },
      ),
  });
  return { did, plugin };
}

/** Notes when a gate is asked and when it has granted the lease. */
function watched(gate: SessionGate, did: string[]): SessionGate {
  return {
    ...{ contract: 1, kind: gate.kind, reach: gate.reach },
    calls: (slot) => gate.calls(slot),
    async acquire(slot, request) {
      did.push("ask for the lease");
      const lease = await gate.acquire(slot, request);
      did.push("lease");
      return lease;
    },
  };
}

describe("a prefetch", () => {
  test("begins beside the request for the lease, and has ended before the prompt is made", async () => {
    const store = new InMemoryAgentStateStore({ fused: false });
    const fetched = door();
    const { did, plugin } = section(() => fetched.opened);
    const { gate } = store.companions();
    const granted = door();
    const slow: SessionGate = {
      ...{ contract: 1, kind: gate.kind, reach: gate.reach },
      calls: (slot) => gate.calls(slot),
      acquire: async (slot, request) => {
        await granted.opened;
        return gate.acquire(slot, request);
      },
    };
    const agent = agentOn(store, { plugins: [plugin], gate: watched(slow, did) });
    const call = agent.call("hi", ctx);
    await expect.poll(() => did).toEqual(["fetch ann s", "ask for the lease"]);
    granted.open();
    await expect.poll(() => did.at(-1)).toBe("lease");
    fetched.open();
    await call;
    expect(did.slice(3)).toEqual(["fetched", "append s"]);
  });

  test("runs once for a call, however many steps it has", async () => {
    const { did, plugin } = section();
    const agent = agentOn(new InMemoryAgentStateStore(), {
      ...{ plugins: [plugin], tools: [noop] },
      model: scriptedModel([callNoop, callNoop, "done", "again"]),
    });
    await agent.call("one", ctx);
    expect(did).toEqual(["fetch ann s", "fetched", "append s", "append s", "append s"]);
    await agent.call("two", ctx);
    expect(did.slice(5)).toEqual(["fetch ann s", "fetched", "append s"]);
  });

  test("runs again once a call that had to wait has its session: the call before it may have changed something", async () => {
    const { did, plugin } = section();
    const reached = door();
    const store = new InMemoryAgentStateStore();
    const first = agentOn(store, { model: stallingModel("", reached.open) });
    const running = first.call("1", ctx);
    await reached.opened;
    const second = agentOn(store, { plugins: [plugin] });
    const waiting = second.call("2", ctx);
    await expect.poll(() => did).toEqual(["fetch ann s", "fetched"]);
    await first.interrupt(ctx);
    await running;
    await waiting;
    expect(did).toEqual(["fetch ann s", "fetched", "fetch ann s", "fetched", "append s"]);
  });

  test("that fails fails the call, which keeps its input; the next call tries again", async () => {
    let isDown = true;
    const { did, plugin } = section(async () => {
      if (isDown) throw new Error("the store is down");
    });
    const agent = agentOn(new InMemoryAgentStateStore(), { plugins: [plugin] });
    await expect(agent.call("one", ctx)).rejects.toThrow("the store is down");
    expect(did).toEqual(["fetch ann s"]);
    isDown = false;
    await agent.call("two", ctx);
    const state = await agent.getAgentState(ctx);
    expect(outline(state)).toEqual(["user: one", "user: two", "assistant: ok"]);
  });

  test("that fails is nobody's business in a call that never makes a prompt", async () => {
    const { plugin } = section(() => Promise.reject(new Error("the store is down")));
    const store = new InMemoryAgentStateStore();
    await agentOn(store).call("one", { ...ctx, callId: "c" });
    const agent = agentOn(store, { plugins: [plugin] });
    expect((await agent.call("one", { ...ctx, callId: "c" })).text).toBe("ok");
  });

  test("also runs for work outside a call that needs the prompt", async () => {
    const { did, plugin } = section();
    const compacting = definePlugin({
      name: "compacting",
      contract: 1,
      setup: (host) => host.provide("compactor", keepLastCompactor({ keepMessages: 1 })),
    });
    const agent = agentOn(new InMemoryAgentStateStore(), { plugins: [plugin, compacting] });
    await agent.call("one", ctx);
    did.length = 0;
    await agent.compact(ctx, { force: true });
    expect(did).toEqual(["fetch ann s", "fetched", "append s"]);
  });
});
