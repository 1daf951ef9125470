import { InProcessSessionGate, listGuard, tool } from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import {
  ctx,
  dies,
  marks,
  mortal,
  Node,
  passes,
  RECOVERY_MS,
  stored,
  useFleet,
} from "./recovering-nodes.js";

useFleet();

describe("a run whose node died", () => {
  test("is continued by one of the nodes that live, once", async () => {
    const live = Array.from({ length: 3 }, () => new Node(scriptedModel(() => "here")));
    await dies(mortal());
    await passes(RECOVERY_MS);
    expect(await stored(live[0] as Node)).toEqual(["user: dying words", "assistant: here"]);
    expect(live.flatMap((node) => node.of("run_recovered"))).toMatchObject([
      { slot: { agentId: "a", ...ctx }, attempt: 1, reason: "stop", background: true },
    ]);
    expect(live.flatMap((node) => node.of("run_resumed"))).toHaveLength(1);
    expect(live.flatMap((node) => node.of("model_call_start"))).toHaveLength(1);
    await passes(RECOVERY_MS);
    expect(await marks()).toEqual({ nodes: [], runs: [] });
  });

  test("is continued by one of those that look at the same moment", async () => {
    vi.spyOn(Math, "random").mockReturnValue(0.5);
    onTestFinished(() => void vi.restoreAllMocks());
    const live = Array.from({ length: 3 }, () => new Node(scriptedModel(() => "here")));
    for (const node of live) node.latencyMs = 10;
    await dies(mortal());
    await passes(2 * RECOVERY_MS);
    expect(live.flatMap((node) => node.of("run_recovered"))).toHaveLength(1);
    expect(live.flatMap((node) => node.of("call_start"))).toHaveLength(1);
    expect(await marks()).toEqual({ nodes: [], runs: [] });
  });

  test("is found by a node that starts later", async () => {
    await dies(mortal());
    await passes(600_000);
    const late = new Node(scriptedModel(() => "late"));
    await passes(RECOVERY_MS);
    expect(await stored(late)).toEqual(["user: dying words", "assistant: late"]);
  });

  test("is the caller's who repeats it first", async () => {
    const node = mortal();
    node.agent.call("dying words", { ...ctx, callId: "c" }).catch(() => undefined);
    await passes(0);
    const model = scriptedModel(() => "to the caller");
    const live = new Node(model);
    const reply = await live.agent.call("dying words", { ...ctx, callId: "c" });
    expect(reply.text).toBe("to the caller");
    await passes(RECOVERY_MS);
    expect(model.requests).toHaveLength(1);
    expect(live.of("run_recovery_failed")).toEqual([]);
    expect((await marks()).runs).toEqual([]);
  });

  test("is left alone without the option, on either side", async () => {
    const without = new Node(
      scriptedModel(() => "no"),
      { recover: false },
    );
    await dies(mortal());
    await passes(RECOVERY_MS);
    expect(without.commands).toBe(0);
    await dies(mortal({ recover: false }), "unmarked", "other");
    const live = new Node(scriptedModel(() => "here"));
    await passes(RECOVERY_MS);
    expect(live.of("run_recovered").map(({ slot }) => slot.sessionId)).toEqual(["s"]);
  });
});

describe("not an orphan", () => {
  test("is a run whose node lives, however long it takes", async () => {
    let finish = (_: string) => {};
    const answer = new Promise<string>((resolve) => {
      finish = resolve;
    });
    const busy = new Node(scriptedModel(() => answer));
    const other = new Node(scriptedModel(() => "no"));
    const call = busy.agent.call("slow", ctx);
    await passes(600_000);
    expect(other.events).toEqual([]);
    finish("at last");
    expect((await call).text).toBe("at last");
  });

  test("is one that waits for a person, failed, or was cut short by a shutdown: its caller knows", async () => {
    const pay = tool({
      name: "pay",
      description: "Pays.",
      input: z.object({}),
      execute: () => "paid",
    });
    const guard = {
      name: "guard",
      contract: 1 as const,
      setup: (host: { provide(port: "toolGuard", guard: unknown): void }) =>
        host.provide("toolGuard", listGuard({ ask: ["pay"] })),
    };
    const model = scriptedModel(({ messages }) => {
      const text = JSON.stringify(messages.at(-1));
      if (text.includes("ask")) return { toolCalls: [{ name: "pay", input: {} }] };
      if (text.includes("fail")) return { error: new Error("model down") };
      return new Promise<string>(() => undefined);
    });
    const node = new Node(model, { tools: [pay], plugins: [guard as never] });
    expect((await node.agent.call("ask", ctx)).reason).toBe("permission_asking");
    await expect(node.agent.call("fail", { ...ctx, sessionId: "f" })).rejects.toThrow();
    const cut = node.agent.call("stay", { ...ctx, sessionId: "c" });
    await passes(0);
    const shutdown = node.agent.shutdown({ timeoutMs: 100 });
    await passes(1_000);
    expect((await cut).reason).toBe("shutdown");
    await shutdown;
    expect(await marks()).toEqual({ nodes: [], runs: [] });
    const other = new Node(scriptedModel(() => "no"));
    await passes(RECOVERY_MS);
    expect(other.events).toEqual([]);
  });
});

describe("not a death", () => {
  let busy: Node;
  let other: Node;

  beforeEach(async () => {
    busy = new Node(scriptedModel(() => new Promise<string>(() => undefined)));
    other = new Node(
      scriptedModel(() => "no"),
      { gate: new InProcessSessionGate() },
    );
    busy.agent.call("slow", ctx).catch(() => undefined);
    await passes(10_000);
  });

  test("is an outage of the store", async () => {
    for (let round = 0; round < 40; round++) {
      for (const node of [busy, other]) node.isDead = true;
      await passes(4_800 + (round % 5) * 300);
      for (const node of [busy, other]) node.isDead = false;
      await passes(8_000 + round * 137);
    }
    expect(other.events).toEqual([]);
  });

  test("is a store that stood still, no matter which node it answers first", async () => {
    for (let round = 0; round < 10; round++) {
      const releases = [other, busy].map((node) => {
        let release = () => {};
        node.held = new Promise((resolve) => {
          release = resolve;
        });
        return () => {
          node.held = undefined;
          release();
        };
      });
      await passes(20_000 + round * 137);
      for (const release of releases) {
        release();
        await passes(400);
      }
      await passes(10_000);
    }
    expect(other.events).toEqual([]);
  });
});
