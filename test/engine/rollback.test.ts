import { InMemoryAgentStateStore, type Middleware, userMessage } from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { agentOn } from "./agent-on.js";
import { keptRuns, logged, logRecords, outcomes, outline, slotOf } from "./conversation.js";
import { unfinishedTurn } from "./unfinished-turn.js";

const ctx = { sessionId: "s" };

describe.each([true, false])("rolling a running call back, fused: %s", (fused) => {
  const newStore = () => new InMemoryAgentStateStore({ fused });
  describe.each(["call", "step"] as const)("rollback, persistence %s", (persistence) => {
    test("the running call's messages and head changes are gone from the state; the log keeps them", async () => {
      const store = newStore();
      await agentOn(store).call("before", ctx);
      const { agent, reached } = unfinishedTurn(store, { persistence });
      const running = agent.call("taken back", { ...ctx, callId: "running" });
      await reached.opened;
      const model = scriptedModel(["after"]);
      const reply = await agentOn(store, { model }).call("again", { ...ctx, onBusy: "rollback" });
      expect(reply.text).toBe("after");
      expect((await running).reason).toBe("interrupted");
      expect(outline(model.requests[0]?.messages)).toEqual([
        "user: before",
        "assistant: ok",
        "user: again",
      ]);
      const state = await agent.getAgentState(null, "s");
      expect(outline(state)).toEqual([
        "user: before",
        "assistant: ok",
        "user: again",
        "assistant: after",
      ]);
      expect(state?.tasksContext.tasks).toEqual([]);
      expect(state?.planModeContext).toEqual({ active: false, planFile: null });
      expect(state?.extensions).toEqual({});
      expect(state?.openCalls).toEqual({});
      expect(keptRuns(state).unfinishedRun).toBeNull();
      const records = await logRecords(store, slotOf());
      const taken = records.filter(({ callId }) => callId === "running");
      expect(outline(logged(taken)).slice(0, 4)).toEqual([
        "user: taken back",
        "assistant: First + call edit",
        "tool: success edited",
        "assistant: Then + call hang",
      ]);
      expect(outcomes(taken)).toEqual(["rolled_back"]);
      expect(outcomes(records)).toEqual(["committed", "rolled_back", "committed"]);
    });

    test("what a middleware pushed during the running call is taken back too", async () => {
      const store = newStore();
      const pusher: Middleware = {
        name: "pusher",
        onCall: (step, next) => {
          step.state.contextMutable().push(userMessage("pushed by a hook"));
          return next();
        },
      };
      const { agent, reached } = unfinishedTurn(store, { persistence, middleware: [pusher] });
      const running = agent.call("taken back", ctx);
      await reached.opened;
      await agentOn(store).call("again", { ...ctx, onBusy: "rollback" });
      await running;
      const state = await agent.getAgentState(null, "s");
      expect(outline(state)).toEqual(["user: again", "assistant: ok"]);
      const log = outline(logged(await logRecords(store, slotOf())));
      expect(log.filter((line) => line.includes("pushed by a hook"))).toHaveLength(1);
    });

    test("a compaction made by the running call stays", async () => {
      const store = newStore();
      await agentOn(store).call("old", ctx);
      const compacting: Middleware = {
        name: "compacting",
        onReasoning: (step, next) => {
          if (step.iteration === 1) {
            step.state.contextMutable().splice(0, 2);
            step.state.summary = "what was old";
          }
          return next();
        },
      };
      const { agent, reached } = unfinishedTurn(store, { persistence, middleware: [compacting] });
      const running = agent.call("taken back", ctx);
      await reached.opened;
      await agentOn(store).call("again", { ...ctx, onBusy: "rollback" });
      await running;
      expect(outline(await agent.getAgentState(null, "s"))).toEqual([
        "user: hint what was old",
        "user: again",
        "assistant: ok",
      ]);
    });
  });
});
