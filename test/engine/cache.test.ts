import {
  type AgentEvent,
  InProcessSessionGate,
  type Revision,
  StateConflictError,
  userMessage,
} from "@holdfast/core";
import { type LoadedState, loadWhole } from "@holdfast/core/store-kit";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { StateCache } from "../../packages/core/src/engine/session/state-cache.js";
import { LiveState } from "../../packages/core/src/state/live-state.js";
import { agentOn } from "./agent-on.js";
import { outline, slotOf } from "./conversation.js";
import { type Command, FaultyStore, unavailable } from "./faulty-store.js";

const ctx = { sessionId: "s" };

describe("the cache of states", () => {
  const state = (chars: number) => {
    const made = LiveState.create({ sessionId: "s" });
    made.contextMutable().push(userMessage("x".repeat(chars)));
    return made;
  };

  test("holds at most maxSessions, those used last", () => {
    const cache = new StateCache({ maxSessions: 3, maxBytes: 1_000_000 });
    for (const key of ["a", "b", "c", "a", "d"]) cache.put(key, state(1), `1.${key}`, 0);
    expect(cache.size).toBe(3);
    expect(["a", "b", "c", "d"].filter((key) => cache.peek(key))).toEqual(["a", "c", "d"]);
  });

  test("holds at most maxBytes, and counts back what leaves", () => {
    const cache = new StateCache({ maxSessions: 1_000, maxBytes: 10_000 });
    for (let n = 0; n < 50; n++) {
      cache.put(`s${n}`, state(1_000), `1.${n}`, 0);
      expect(cache.bytes).toBeLessThanOrEqual(10_000);
    }
    expect(cache.size).toBeGreaterThan(1);
    expect(cache.peek("s49")).toBeDefined();
    for (let n = 0; n < 50; n++) cache.take(`s${n}`);
    expect([cache.size, cache.bytes]).toEqual([0, 0]);
  });

  test("does not take in a state that is larger than all of it, and forgets the older copy", () => {
    const cache = new StateCache({ maxSessions: 10, maxBytes: 8_000 });
    cache.put("a", state(1), "1.a", 0);
    cache.put("b", state(1), "1.b", 0);
    cache.put("a", state(10_000), "2.a", 0);
    expect(cache.peek("a")).toBeUndefined();
    expect(cache.peek("b")).toBeDefined();
  });

  test("with maxSessions 0 holds nothing", () => {
    const cache = new StateCache({ maxSessions: 0, maxBytes: 5_000 });
    cache.put("a", state(1), "1.a", 0);
    expect(cache.size).toBe(0);
  });
});

describe.each([true, false])("what an agent remembers of a session, fused: %s", (fused) => {
  /** The revision the agent said it knows, in its last request for the state. */
  const lastKnown = (store: FaultyStore): Revision | undefined =>
    (store.of(fused ? "acquire" : "load").at(-1) as Command).known;

  test("is bounded: the session used least recently is loaded anew", async () => {
    const store = new FaultyStore({ fused });
    const agent = agentOn(store, { stateCache: { maxSessions: 2 } });
    for (const sessionId of ["a", "b", "c"]) await agent.call("x", { sessionId });
    await agent.call("y", { sessionId: "b" });
    expect(lastKnown(store)).toBeDefined();
    await agent.call("y", { sessionId: "a" });
    expect(lastKnown(store)).toBeUndefined();
  });

  test("is nothing with maxSessions 0", async () => {
    const store = new FaultyStore({ fused });
    const agent = agentOn(store, { stateCache: { maxSessions: 0 } });
    await agent.call("x", ctx);
    await agent.call("y", ctx);
    expect(lastKnown(store)).toBeUndefined();
    expect(outline(await agent.getAgentState(null, "s"))).toHaveLength(4);
  });

  test("is replaced only after an acknowledged save: after a failed one it sees the store's truth", async () => {
    const store = new FaultyStore({ fused });
    const model = scriptedModel((_, index) => {
      if (index === 1) store.every("save", unavailable);
      return `ok ${index}`;
    });
    const agent = agentOn(store, { model, saveDeadlineMs: 20 });
    await agent.call("saved", ctx);
    await expect(agent.call("not answered", ctx)).rejects.toThrow("the store is away");
    store.every("save", undefined);
    await agent.call("next", ctx);
    expect(lastKnown(store)).toBeUndefined();
    expect(outline(model.requests.at(-1)?.messages)).toEqual([
      "user: saved",
      "assistant: ok 0",
      "user: not answered",
      "user: next",
    ]);
  });

  test("is not trusted when somebody else saved in between", async () => {
    const store = new FaultyStore({ fused });
    const model = scriptedModel(() => "ok");
    const agent = agentOn(store, { model });
    await agent.call("mine", ctx);
    await agentOn(store).call("theirs", ctx);
    await agent.call("mine again", ctx);
    expect(lastKnown(store)).toBeDefined();
    expect(outline(model.requests.at(-1)?.messages)).toEqual([
      "user: mine",
      "assistant: ok",
      "user: theirs",
      "assistant: ok",
      "user: mine again",
    ]);
  });

  test("is not trusted when somebody else deleted the session", async () => {
    const store = new FaultyStore({ fused });
    const model = scriptedModel(() => "ok");
    const agent = agentOn(store, { model });
    await agent.call("mine", ctx);
    await agentOn(store).deleteSession(null, "s");
    await agent.call("new", ctx);
    expect(outline(model.requests.at(-1)?.messages)).toEqual(["user: new"]);
    expect(outline(await agent.getAgentState(null, "s"))).toHaveLength(2);
  });

  describe("a store that went back", () => {
    /** Puts back an earlier state, as a failover to an old replica does. */
    async function goBack(
      store: FaultyStore,
      turns: number,
      earlier?: LoadedState | null,
    ): Promise<FaultyStore> {
      const replica = new FaultyStore({ fused });
      if (earlier) {
        const { head, revision, messages: append } = earlier;
        const write = { op: "copy", expected: null, revision, head, keep: 0, replace: [], append };
        await replica.inner.save(slotOf(), write);
      }
      for (let turn = 0; turn < turns; turn++) await agentOn(replica).call(`old ${turn}`, ctx);
      for (const name of ["load", "acquire"] as const)
        store.every(name, async (run, command) => {
          const answer = await run();
          const loaded = await replica.inner.load(slotOf(), command.known);
          if (name === "load") return loaded as typeof answer;
          return { ...(answer as object), ...(fused && { loaded }) } as typeof answer;
        });
      store.every("save", async (_, { slot, write }) => {
        const { lease: _lease, release: _release, ...rest } = write ?? ({} as never);
        return replica.inner.save(slot as never, rest) as never;
      });
      return replica;
    }

    test.each([
      ["to an earlier revision", 1],
      ["to another history of the same length", 2],
    ])("%s is reported, and its state is the one that counts", async (_, turns) => {
      const store = new FaultyStore({ fused });
      const events: AgentEvent[] = [];
      const model = scriptedModel(() => "ok");
      const agent = agentOn(store, {
        model,
        gate: fused ? store.companions().gate : new InProcessSessionGate(),
        onEvent: (event) => events.push(event),
      });
      await agent.call("1", ctx);
      await agent.call("2", ctx);
      const known = (await store.inner.load(slotOf())) as { revision: string };
      const replica = await goBack(store, turns);
      const stored = (await replica.inner.load(slotOf())) as { revision: string };
      await agent.call("3", ctx);
      expect(events.filter(({ type }) => type === "store_rolled_back")).toMatchObject([
        { known: known.revision, stored: stored.revision },
      ]);
      expect(outline(model.requests.at(-1)?.messages)[0]).toBe("user: old 0");
    });

    test("is reported as well when others have gone past what was lost", async () => {
      const store = new FaultyStore({ fused });
      const events: AgentEvent[] = [];
      const agent = agentOn(store, {
        gate: fused ? store.companions().gate : new InProcessSessionGate(),
        onEvent: (event) => events.push(event),
      });
      await agent.call("1", ctx);
      await agent.call("2", ctx);
      const replica = await goBack(store, 1);
      for (const text of ["a", "b", "c"]) await agentOn(replica).call(text, ctx);
      await agent.call("3", ctx);
      expect(events.filter(({ type }) => type === "store_rolled_back")).toHaveLength(1);
    });

    test("refuses every call, when told to, until the session is accepted as it is", async () => {
      const store = new FaultyStore({ fused });
      const events: AgentEvent[] = [];
      const agent = agentOn(store, {
        onStoreRolledBack: "refuse",
        gate: fused ? store.companions().gate : new InProcessSessionGate(),
        onEvent: (event) => events.push(event),
      });
      await agent.call("1", ctx);
      const earlier = await loadWhole(store.inner, slotOf());
      await agent.call("2", ctx);
      await goBack(store, 0, earlier);
      for (let attempt = 0; attempt < 2; attempt++)
        await expect(agent.call("3", ctx)).rejects.toSatisfy(
          (error) =>
            StateConflictError.is(error) && /has lost acknowledged saves/.test(error.message),
        );
      expect(events.filter(({ type }) => type === "store_rolled_back")).toHaveLength(2);
      await agent.updateAgentState(null, "s", () => {});
      expect((await agent.call("4", ctx)).text).toBe("ok");
      expect(outline(await agent.getAgentState(null, "s"))).not.toContain("user: 3");
    });

    test("is not refused for a session that was deleted elsewhere and begun anew", async () => {
      const store = new FaultyStore({ fused });
      const agent = agentOn(store, { onStoreRolledBack: "refuse" });
      await agent.call("1", ctx);
      await agent.call("2", ctx);
      await agentOn(store).deleteSession(null, "s");
      await agentOn(store).call("new", ctx);
      expect((await agent.call("3", ctx)).text).toBe("ok");
      await agentOn(store).deleteSession(null, "s");
      expect((await agent.call("4", ctx)).text).toBe("ok");
    });

    test("is not reported when others only went on", async () => {
      const store = new FaultyStore({ fused });
      const events: AgentEvent[] = [];
      const agent = agentOn(store, { onEvent: (event) => events.push(event) });
      await agent.call("1", ctx);
      await agentOn(store).call("2", ctx);
      await agent.call("3", ctx);
      await agent.call("4", ctx);
      expect(events.map(({ type }) => type)).not.toContain("store_rolled_back");
    });
  });
});
