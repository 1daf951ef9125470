import {
  type AgentEvent,
  InMemoryAgentStateStore,
  type Middleware,
  ReActAgent,
  type RunStep,
  ShuttingDownError,
} from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { door } from "./door.js";
import { stallingModel } from "./models.js";

interface Seen {
  readonly step: RunStep;
  readonly events: AgentEvent[];
}

/** Notes every run and its events. */
function watching(): { readonly runs: Seen[]; readonly middleware: Middleware } {
  const runs: Seen[] = [];
  const middleware: Middleware = {
    name: "watching",
    onRun(step, next) {
      const seen: Seen = { step, events: [] };
      runs.push(seen);
      step.observe((event) => void seen.events.push(event));
      return next();
    },
  };
  return { runs, middleware };
}

const types = (events: readonly AgentEvent[] = []) => events.map(({ type }) => type);

describe.each([true, false])("onRun, fused: %s", (fused) => {
  const stateStore = () => new InMemoryAgentStateStore({ fused });

  test("begins in the caller's own tick and sees the call from its start to its end", async () => {
    const { runs, middleware } = watching();
    const model = scriptedModel(["ok"]);
    const agent = new ReActAgent({
      name: "a",
      model,
      middleware: [middleware],
      stateStore: stateStore(),
    });
    const call = agent.call("hi", { userId: "u", sessionId: "s", callId: "c" });
    expect(runs).toHaveLength(1);
    await call;
    expect(runs[0]?.step).toMatchObject({
      slot: { agentId: "a", userId: "u", sessionId: "s" },
      callId: "c",
    });
    const seen = types(runs[0]?.events);
    expect(seen[0]).toBe("call_start");
    expect(seen.at(-1)).toBe("call_end");
    expect(seen).toContain("state_loaded");
    expect(seen).toContain("state_saved");
  });

  test("tells two runs of one call id apart, and the wait of the second from its load", async () => {
    const { runs, middleware } = watching();
    const reached = door();
    const agent = new ReActAgent({
      name: "a",
      model: stallingModel("half", () => reached.open()),
      middleware: [middleware],
      stateStore: stateStore(),
    });
    const ctx = { sessionId: "s", callId: "same" };
    const first = agent.call("hi", ctx);
    await reached.opened;
    const waiting = door();
    const second = agent.call("hi", ctx);
    runs[1]?.step.observe((event) => {
      if (event.type === "queue_wait") waiting.open();
    });
    await waiting.opened;
    await agent.interrupt(null, "s");
    await Promise.all([first, second]);
    expect(types(runs[0]?.events)).not.toContain("queue_wait");
    expect(types(runs[0]?.events)).toContain("interrupted");
    expect(types(runs[1]?.events)).not.toContain("interrupted");
    const loaded = runs.map(({ events }) => events.find(({ type }) => type === "state_loaded"));
    expect(loaded[0]).toMatchObject({ source: "new", waitedMs: 0, revision: null });
    expect(loaded[1]).toMatchObject({ waitedMs: expect.any(Number) });
    expect(loaded[1]?.type === "state_loaded" && loaded[1].waitedMs).toBeGreaterThan(0);
  });

  test("says where the state came from and how much was read", async () => {
    const { runs, middleware } = watching();
    const store = stateStore();
    const agent = () =>
      new ReActAgent({
        name: "a",
        model: scriptedModel(() => "ok"),
        middleware: [middleware],
        stateStore: store,
      });
    const one = agent();
    await one.call("hi");
    await one.call("again");
    await agent().call("elsewhere");
    const loads = runs.map(({ events }) => events.find(({ type }) => type === "state_loaded"));
    expect(loads).toMatchObject([
      { source: "new", bytes: 0, messages: 0 },
      { source: "cache", bytes: 0, messages: 2 },
      { source: "store", messages: 4, revision: expect.stringMatching(fused ? /^2\./ : /^4\./) },
    ]);
    expect(loads[2]?.type === "state_loaded" && loads[2].bytes).toBeGreaterThan(500);
  });

  test("whatever a hook or its listener does, events begin with call_start and end with call_end", async () => {
    const events: AgentEvent[] = [];
    const refusing: Middleware = {
      name: "refusing",
      onRun: (step) => {
        step.observe(() => {
          throw new Error("a watcher's fault");
        });
        throw new TypeError("not today");
      },
    };
    const agent = new ReActAgent({
      name: "a",
      model: scriptedModel(["ok"]),
      middleware: [refusing],
      stateStore: stateStore(),
      onEvent: (event) => events.push(event),
    });
    await expect(agent.call("hi")).rejects.toThrow("not today");
    expect(types(events)).toEqual(["call_start", "error", "call_end"]);
    expect(await agent.getAgentState()).toBeNull();
    await agent.close();
    await expect(agent.call("hi")).rejects.toSatisfy(ShuttingDownError.is);
  });
});
