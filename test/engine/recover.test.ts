import {
  type AgentEvent,
  InMemoryAgentStateStore,
  InMemoryKeyValueStore,
  InProcessSessionGate,
  type KeyValueStore,
  listGuard,
  type Model,
  ReActAgent,
  type ReActAgentOptions,
  StoreUnavailableError,
  tool,
} from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { outline } from "./conversation.js";

const ctx = { userId: "u", sessionId: "s" };
/** Longer than a silent node is waited for, and its runs are looked at. */
const RECOVERY_MS = 20_000;

let stateStore: InMemoryAgentStateStore;
let values: KeyValueStore;
/** Gate of the nodes that live; one that is to die has its own, so that its leases end with it. */
let gate: InProcessSessionGate;
let agents: ReActAgent[];

beforeEach(() => {
  vi.useFakeTimers();
  stateStore = new InMemoryAgentStateStore({ fused: false });
  values = new InMemoryKeyValueStore();
  gate = new InProcessSessionGate();
  agents = [];
});

afterEach(async () => {
  for (const agent of agents) {
    const closed = agent.close({ timeoutMs: 0 }).catch(() => undefined);
    await vi.advanceTimersByTimeAsync(10_000);
    await closed;
  }
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

const passes = (ms: number) => vi.advanceTimersByTimeAsync(ms);

/** An agent as one process of a fleet has it, which can be cut off from its store for good. */
class Node {
  readonly events: AgentEvent[] = [];
  readonly agent: ReActAgent;
  /** Commands to the key-value store. */
  commands = 0;
  isDead = false;
  /** While it is there, commands are not answered. */
  held: Promise<void> | undefined;
  /** Time that a command takes. */
  latencyMs = 0;

  constructor(model: Model, options: Partial<ReActAgentOptions> = {}) {
    const alive = async <T>(command: () => Promise<T>): Promise<T> => {
      this.commands++;
      await this.held;
      if (this.latencyMs > 0) await new Promise((resolve) => setTimeout(resolve, this.latencyMs));
      if (this.isDead) throw new StoreUnavailableError("dead");
      return command();
    };
    this.agent = new ReActAgent({
      ...{ name: "a", model, stateStore, gate, recover: true },
      keyValue: {
        contract: 1,
        kind: values.kind,
        reach: values.reach,
        get: (...args) => alive(() => values.get(...args)),
        getMany: (...args) => alive(() => values.getMany(...args)),
        put: (...args) => alive(() => values.put(...args)),
        delete: (...args) => alive(() => values.delete(...args)),
        list: (...args) => alive(() => values.list(...args)),
      },
      onEvent: (event) => this.events.push(event),
      ...options,
    });
    agents.push(this.agent);
  }

  of<T extends AgentEvent["type"]>(type: T): Extract<AgentEvent, { type: T }>[] {
    return this.events.filter((event) => event.type === type) as Extract<AgentEvent, { type: T }>[];
  }
}

/** A node that dies when its model is asked; its leases die with it. */
function mortal(options: Partial<ReActAgentOptions> = {}): Node {
  const node: Node = new Node(
    scriptedModel(async () => {
      node.isDead = true;
      return new Promise<never>(() => undefined);
    }),
    { gate: new InProcessSessionGate(), ...options },
  );
  return node;
}

async function dies(node: Node, words = "dying words", sessionId = "s"): Promise<void> {
  node.agent.call(words, { ...ctx, sessionId }).catch(() => undefined);
  await passes(0);
  await vi.waitFor(() => expect(node.isDead).toBe(true));
}

const stored = async (node: Node) => outline(await node.agent.getAgentState(ctx));
const marks = async () => {
  const nodes = (await values.list(["holdfast.recovery", "a"])).keys;
  const keys = nodes.map(async (id) => (await values.list(["holdfast.recovery", "a", id])).keys);
  return { nodes, runs: (await Promise.all(keys)).flat() };
};

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

describe("a run that cannot be continued", () => {
  test("kills its node a bounded number of times, and then no more", async () => {
    await dies(mortal());
    const victims: Node[] = [];
    for (let death = 0; death < 3; death++) {
      const victim = mortal();
      await passes(RECOVERY_MS);
      expect(victim.isDead).toBe(true);
      victims.push(victim);
    }
    const survivor = mortal();
    await passes(RECOVERY_MS);
    expect(survivor.isDead).toBe(false);
    expect(survivor.of("run_recovery_failed")).toMatchObject([
      { slot: { sessionId: "s" }, attempt: 3, code: "PROCESS_DIED", gaveUp: true },
    ]);
    await passes(600_000);
    expect(survivor.isDead).toBe(false);
    const { slots } = await survivor.agent.sessions({ unfinished: true });
    expect(slots.map(({ slot }) => slot.sessionId)).toEqual(["s"]);
  });

  test("is tried alone after a first attempt that died, so that it takes no other with it again", async () => {
    /** Dies when it is asked for the second time: two runs are under way then. */
    function dying(): Node {
      let asked = 0;
      const node: Node = new Node(
        scriptedModel(() => {
          node.isDead = ++asked === 2;
          return new Promise<never>(() => undefined);
        }),
        { gate: new InProcessSessionGate() },
      );
      return node;
    }
    const first = dying();
    for (const sessionId of ["pill", "innocent"])
      first.agent.call("dying words", { ...ctx, sessionId }).catch(() => undefined);
    await passes(0);
    expect(first.isDead).toBe(true);
    const second = dying();
    await passes(RECOVERY_MS);
    expect(second.isDead).toBe(true);
    let running = 0;
    let most = 0;
    const careful = new Node(
      scriptedModel(async () => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setTimeout(resolve, 10_000));
        running--;
        return "ok";
      }),
    );
    await passes(3 * RECOVERY_MS);
    expect(careful.of("run_recovered")).toMatchObject([{ attempt: 2 }, { attempt: 2 }]);
    expect(most).toBe(1);
  });

  test("is tried again after a pause that grows, and given up after maxAttempts", async () => {
    await dies(mortal());
    const times: number[] = [];
    const model = scriptedModel(() => {
      times.push(performance.now());
      return { error: new Error("model down") };
    });
    const live = new Node(model, {
      modelRetry: { attempts: 1 },
      recover: { maxAttempts: 4, concurrency: 1 },
    });
    await passes(600_000);
    expect(times).toHaveLength(4);
    const pauses = times.slice(1).map((time, at) => time - (times[at] ?? 0));
    expect(pauses[0]).toBeGreaterThanOrEqual(4_000);
    expect(pauses[1]).toBeGreaterThanOrEqual(8_000);
    expect(pauses[2]).toBeGreaterThanOrEqual(16_000);
    expect(live.of("run_recovery_failed").map(({ attempt, gaveUp }) => [attempt, gaveUp])).toEqual([
      [1, false],
      [2, false],
      [3, false],
      [4, true],
    ]);
    expect((await marks()).runs).toEqual([]);
    const { slots } = await live.agent.sessions({ unfinished: true });
    expect(slots.map(({ slot }) => slot.sessionId)).toEqual(["s"]);
  });
});

test("a node that shuts down hands what it continued to another, and that is no attempt", async () => {
  await dies(mortal());
  for (let deploy = 0; deploy < 5; deploy++) {
    const leaving = new Node(scriptedModel(() => new Promise<string>(() => undefined)));
    await passes(RECOVERY_MS);
    expect(leaving.of("run_resumed"), `deploy ${deploy}`).toHaveLength(1);
    const shutdown = leaving.agent.shutdown({ timeoutMs: 0 });
    await passes(10_000);
    expect(await shutdown).toMatchObject({ calls: 1 });
  }
  const staying = new Node(scriptedModel(() => "done"));
  await passes(RECOVERY_MS);
  expect(staying.of("run_recovered")).toMatchObject([{ attempt: 1 }]);
  expect((await stored(staying)).at(-1)).toBe("assistant: done");
});

test("many runs of a dead node are continued, few at a time", async () => {
  const dead = mortal();
  const calls = Array.from({ length: 12 }, (_, n) => `s-${n}`);
  for (const sessionId of calls)
    dead.agent.call("dying words", { ...ctx, sessionId }).catch(() => undefined);
  await passes(0);
  let running = 0;
  let most = 0;
  const live = new Node(
    scriptedModel(async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 500));
      running--;
      return "here";
    }),
  );
  await passes(3 * RECOVERY_MS);
  expect(new Set(live.of("run_recovered").map(({ slot }) => slot.sessionId))).toEqual(
    new Set(calls),
  );
  expect(most).toBeLessThanOrEqual(4);
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

  test("is a store that stood still, whoever it answers first", async () => {
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

test("costs an idle node some twenty commands a minute, and a call two more", async () => {
  const idle = new Node(scriptedModel(() => "ok"));
  await passes(600_000);
  expect(idle.commands / 10).toBeLessThanOrEqual(22);
  const before = idle.commands;
  for (let call = 0; call < 10; call++) await idle.agent.call("hi", ctx);
  // One of them is the node's own record.
  expect(idle.commands - before).toBeLessThanOrEqual(21);
});

test("a call whose mark cannot be stored is refused and leaves nothing behind", async () => {
  const node = new Node(scriptedModel(() => "no"));
  node.isDead = true;
  await expect(node.agent.call("hi", ctx)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  expect(await node.agent.getAgentState(ctx)).toBeNull();
});

test("refuses a key-value store that reaches less far than the state store, and wrong options", () => {
  const keyValue: KeyValueStore = Object.create(values, { reach: { value: "host" } });
  expect(() => new Node(scriptedModel([]), { keyValue })).toThrow(/recover: .*reach/);
  expect(() => new Node(scriptedModel([]), { recover: { maxAttempts: 0 } })).toThrow(/recover/);
  expect(() => new Node(scriptedModel([]), { recover: "yes" as never })).toThrow(/recover/);
});
