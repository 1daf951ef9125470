import { describe, expect, expectTypeOf, test, vi } from "vitest";
import type { AgentStateSource } from "../../src/context/runtime-context.js";
import { AgentState, RuntimeContext, userMessage } from "../../src/index.js";

class Tenant {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}
abstract class Clock {
  abstract now(): number;
}
class FixedClock extends Clock {
  now(): number {
    return 42;
  }
}

const state = (sessionId = "s") => AgentState.create({ sessionId });

describe("the ways to make one", () => {
  test("builder: ids, attributes, typed singletons and everything about the call", () => {
    const { signal } = new AbortController();
    const ctx = RuntimeContext.builder()
      .userId("alice")
      .sessionId("s-001")
      .signal(signal)
      .callId("c-1")
      .onBusy("reject")
      .queueTimeoutMs(5)
      .put("request_id", "req-1")
      .put(Tenant, new Tenant("tenant-7"))
      .build();
    expect(ctx).toMatchObject({
      userId: "alice",
      sessionId: "s-001",
      signal,
      callId: "c-1",
      onBusy: "reject",
      queueTimeoutMs: 5,
    });
    expect(ctx.get("request_id")).toBe("req-1");
    expect(ctx.get(Tenant)?.name).toBe("tenant-7");
  });

  test("of: the plain-object form, extra included", () => {
    const ctx = RuntimeContext.of({ userId: "u", sessionId: "s", extra: { a: 1 } });
    expect([ctx.userId, ctx.sessionId, ctx.get("a")]).toEqual(["u", "s", 1]);
    expect(RuntimeContext.of(ctx)).toBe(ctx);
  });

  test("of: what it is given stays the caller's", () => {
    const extra = { a: 1 };
    RuntimeContext.of({ extra }).put("a", 2).put("b", 3);
    expect(extra).toEqual({ a: 1 });
  });

  test("empty: anonymous, no session, nothing in it", () => {
    const ctx = RuntimeContext.empty();
    expect([ctx.userId, ctx.sessionId, ctx.signal, ctx.agentState]).toEqual([
      null,
      undefined,
      undefined,
      undefined,
    ]);
    expect(Object.keys(ctx.extra)).toEqual([]);
    expect(RuntimeContext.empty()).not.toBe(ctx);
  });

  test("builder(source): the source's fields and attributes, and what is set on top", () => {
    const source = RuntimeContext.of({ userId: "u", sessionId: "s", extra: { a: 1 } });
    source.put(Tenant, new Tenant("t"));
    const ctx = RuntimeContext.builder(source).sessionId("other").put("b", 2).build();
    expect([ctx.userId, ctx.sessionId]).toEqual(["u", "other"]);
    expect([ctx.get("a"), ctx.get("b"), ctx.get(Tenant)?.name]).toEqual([1, 2, "t"]);
    expect([source.sessionId, source.get("b")]).toEqual(["s", undefined]);
  });

  test("builder(source): userId(null) makes it anonymous", () => {
    const source = RuntimeContext.of({ userId: "u" });
    expect(RuntimeContext.builder(source).userId(null).build().userId).toBe(null);
  });

  test("one builder builds contexts that share nothing", () => {
    const builder = RuntimeContext.builder().put("list", "a");
    const [first, second] = [builder.build(), builder.build()];
    first.put("list", "b");
    expect(second.get("list")).toBe("a");
  });

  test("of: a context of another copy of the package keeps its typed singletons", async () => {
    vi.resetModules();
    const other = await import("../../src/index.js");
    expect(other.RuntimeContext).not.toBe(RuntimeContext);
    const foreign = other.RuntimeContext.builder().userId("u").put(Tenant, new Tenant("t")).build();
    const ctx = RuntimeContext.of(foreign).child({ sessionId: "s" });
    expect([ctx.userId, ctx.sessionId, ctx.get(Tenant)?.name]).toEqual(["u", "s", "t"]);
  });
});

describe("attributes", () => {
  test("names of Object.prototype are names like any other", () => {
    const ctx = RuntimeContext.empty();
    for (const key of ["__proto__", "constructor", "toString", "hasOwnProperty"]) {
      expect(ctx.get(key)).toBe(undefined);
      ctx.put(key, { value: key });
      expect(ctx.get(key)).toEqual({ value: key });
      expect(ctx.child().get(key)).toEqual({ value: key });
    }
    expect("value" in {}).toBe(false);
    const given = RuntimeContext.of({ extra: JSON.parse('{"__proto__":1}') });
    expect(given.get("__proto__")).toBe(1);
  });

  test("extra is the map itself", () => {
    const ctx = RuntimeContext.empty();
    ctx.extra["a"] = 1;
    expect(ctx.get("a")).toBe(1);
    ctx.put("b", 2);
    expect({ ...ctx.extra }).toEqual({ a: 1, b: 2 });
  });

  test("putting undefined removes", () => {
    const ctx = RuntimeContext.empty().put("a", 1).put(Tenant, new Tenant("t"));
    ctx.put("a", undefined).put(Tenant, undefined);
    expect(Object.keys(ctx.extra)).toEqual([]);
    expect(ctx.get(Tenant)).toBe(undefined);
  });

  test("a typed singleton is found by its own class only, a class and a name never meet", () => {
    const ctx = RuntimeContext.empty().put(Clock, new FixedClock()).put("Tenant", "text");
    expect(ctx.get(Clock)?.now()).toBe(42);
    expect(ctx.get(FixedClock)).toBe(undefined);
    expect(ctx.get(Tenant)).toBe(undefined);
    expect("Clock" in ctx.extra).toBe(false);
  });

  test("the type of a singleton follows from its class, abstract ones too", () => {
    const ctx = RuntimeContext.empty();
    expectTypeOf(ctx.get(Tenant)).toEqualTypeOf<Tenant | undefined>();
    expectTypeOf(ctx.get(Clock)).toEqualTypeOf<Clock | undefined>();
    expectTypeOf(ctx.get("a")).toEqualTypeOf<unknown>();
    // @ts-expect-error a singleton must be an instance of its class
    ctx.put(Tenant, "not a tenant");
    // @ts-expect-error the builder holds to it as well
    RuntimeContext.builder().put(Clock, new Tenant("t"));
    // @ts-expect-error ids are strings
    RuntimeContext.of({ sessionId: 5 });
  });
});

describe("a child", () => {
  test("sees what its parent had, and other fields where given", () => {
    const { signal } = new AbortController();
    const parent = RuntimeContext.of({ userId: "u", sessionId: "s", callId: "c", extra: { a: 1 } });
    const child = parent.child({ signal, callId: "d", extra: { b: 2 } });
    expect(child).toMatchObject({ userId: "u", sessionId: "s", callId: "d", signal });
    expect([child.get("a"), child.get("b")]).toEqual([1, 2]);
  });

  test("keeps a field for which it is given undefined: nobody becomes anonymous by accident", () => {
    const parent = RuntimeContext.of({ userId: "u", sessionId: "s" });
    const child = parent.child({ userId: undefined, sessionId: undefined });
    expect([child.userId, child.sessionId]).toEqual(["u", "s"]);
    expect(parent.child({ userId: null }).userId).toBe(null);
  });

  test("of concurrent calls never sees another's puts, and the parent sees neither's", async () => {
    const parent = RuntimeContext.of({ extra: { shared: "parent" } });
    const call = async (name: string) => {
      const ctx = parent.child();
      ctx.put("shared", name).put(Tenant, new Tenant(name));
      ctx.agentState = state(name);
      await new Promise(setImmediate);
      ctx.extra["own"] = name;
      await new Promise(setImmediate);
      return [ctx.get("shared"), ctx.get(Tenant)?.name, ctx.get("own"), ctx.agentState.sessionId];
    };
    const names = ["a", "b", "c"];
    expect(await Promise.all(names.map(call))).toEqual(names.map((n) => [n, n, n, n]));
    expect({ ...parent.extra }).toEqual({ shared: "parent" });
    expect([parent.get(Tenant), parent.agentState]).toEqual([undefined, undefined]);
  });

  test("is not reached by what its parent puts later", () => {
    const parent = RuntimeContext.empty();
    const child = parent.child();
    parent.put("late", 1).put(Tenant, new Tenant("late"));
    expect([child.get("late"), child.get(Tenant)]).toEqual([undefined, undefined]);
  });
});

test("withSignal shares the attributes both ways and has its own signal", () => {
  const ctx = RuntimeContext.of({ userId: "u", sessionId: "s", callId: "c" });
  ctx.agentState = state();
  const { signal } = new AbortController();
  const tool = ctx.withSignal(signal);
  expect([ctx.signal, tool.signal]).toEqual([undefined, signal]);
  expect([tool.userId, tool.sessionId, tool.callId]).toEqual(["u", "s", "c"]);
  expect(tool.agentState).toBe(ctx.agentState);
  tool.put("from tool", 1).put(Tenant, new Tenant("t"));
  ctx.put("from hook", 2);
  expect([ctx.get("from tool"), ctx.get(Tenant)?.name, tool.get("from hook")]).toEqual([1, "t", 2]);
});

describe("resolveAgentState", () => {
  /** An agent with one stored state that remembers what it was asked for. */
  function agent(answer: AgentState | null): AgentStateSource & { asked: unknown[] } {
    const asked: unknown[] = [];
    return {
      asked,
      getAgentState: async (slot) => {
        asked.push(slot);
        return answer;
      },
    };
  }

  test("is the context's own state while a call runs, and the agent is not asked", async () => {
    const ctx = RuntimeContext.of({ sessionId: "s" });
    ctx.agentState = state();
    const source = agent(state("stored"));
    expect(await RuntimeContext.resolveAgentState(ctx, source)).toBe(ctx.agentState);
    expect(source.asked).toEqual([]);
  });

  test("is else the agent's for the slot the context names", async () => {
    const stored = state("stored");
    const source = agent(stored);
    const ctx = RuntimeContext.of({ userId: "u", sessionId: "s" });
    expect(await RuntimeContext.resolveAgentState(ctx, source)).toBe(stored);
    await RuntimeContext.resolveAgentState(RuntimeContext.of({ userId: "u" }), source);
    await RuntimeContext.resolveAgentState(undefined, source);
    expect(source.asked).toEqual([
      { userId: "u", sessionId: "s" },
      { userId: "u" },
      { userId: null },
    ]);
    expect(await RuntimeContext.resolveAgentState(ctx, agent(null))).toBe(null);
  });
});

test("as JSON it is its ids: neither attributes nor state", () => {
  const ctx = RuntimeContext.of({ userId: "u", sessionId: "s", extra: { secret: "canary" } });
  ctx.put(Tenant, new Tenant("canary"));
  ctx.agentState = state();
  ctx.agentState.contextMutable().push(userMessage("canary"));
  expect(JSON.parse(JSON.stringify(ctx))).toEqual({ userId: "u", sessionId: "s", callId: null });
});
