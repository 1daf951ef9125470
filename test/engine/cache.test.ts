import { type Revision, userMessage } from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { StateCache } from "../../packages/core/src/engine/session/state-cache.js";
import { LiveState } from "../../packages/core/src/state/live-state.js";
import { agentOn } from "./agent-on.js";
import { outline } from "./conversation.js";
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

  test("knows what is stored of a session while a visit has its state, of at most maxSessions", () => {
    const cache = new StateCache({ maxSessions: 3, maxBytes: 1_000_000 });
    for (const key of ["a", "b", "c", "d"]) {
      cache.put(key, state(1), `1.${key}`, 0);
      cache.lend(key, { state: state(1), revision: `2.${key}` });
      expect([cache.peek(key), cache.known(key)?.revision]).toEqual([undefined, `2.${key}`]);
    }
    expect(cache.size).toBe(3);
    expect(cache.known("a")).toBeUndefined();
    cache.take("b");
    expect(cache.known("b")).toBeUndefined();
    cache.put("c", state(1), "3.c", 0);
    expect(cache.known("c")?.revision).toBe("3.c");
  });

  test("with maxSessions 0 holds nothing", () => {
    const cache = new StateCache({ maxSessions: 0, maxBytes: 5_000 });
    cache.put("a", state(1), "1.a", 0);
    cache.lend("b", { state: state(1), revision: "1.b" });
    expect([cache.size, cache.known("b")]).toEqual([0, undefined]);
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
    const sources: string[] = [];
    const agent = agentOn(store, {
      model,
      saveDeadlineMs: 20,
      onEvent: (event) => {
        if (event.type === "state_loaded") sources.push(event.source);
      },
    });
    await agent.call("saved", ctx);
    await expect(agent.call("not answered", ctx)).rejects.toThrow("the store is away");
    store.every("save", undefined);
    await agent.call("next", ctx);
    expect(sources.at(-1)).toBe("store");
    expect(outline(model.requests.at(-1)?.messages)).toEqual([
      "user: saved",
      "assistant: ok 0",
      "user: not answered",
      "user: next",
    ]);
  });

  test("is not trusted when another process saved in between", async () => {
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

  test("is not trusted when another process deleted the session", async () => {
    const store = new FaultyStore({ fused });
    const model = scriptedModel(() => "ok");
    const agent = agentOn(store, { model });
    await agent.call("mine", ctx);
    await agentOn(store).deleteSession(null, "s");
    await agent.call("new", ctx);
    expect(outline(model.requests.at(-1)?.messages)).toEqual(["user: new"]);
    expect(outline(await agent.getAgentState(null, "s"))).toHaveLength(2);
  });
});
