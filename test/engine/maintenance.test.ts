import {
  AgentState,
  ConfigurationError,
  InvalidInputError,
  keepLastCompactor,
  type PluginHost,
  userMessage,
} from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { agentOn } from "./agent-on.js";
import { logged, logRecords, outline, slotOf } from "./conversation.js";
import { door } from "./door.js";
import { FaultyStore } from "./faulty-store.js";

const ctx = { sessionId: "s" };

describe.each([true, false])("work on a session beside its turns, fused: %s", (fused) => {
  /** An agent whose model waits until it is released. */
  function heldAgent(store: FaultyStore) {
    const [reached, release] = [door(), door()];
    const model = scriptedModel(async () => {
      reached.open();
      await release.opened;
      return "ok";
    });
    return { agent: agentOn(store, { model }), reached, release };
  }
  const compactor = (keepMessages: number) => ({
    name: "compactor",
    contract: 1 as const,
    setup: (host: PluginHost) => host.provide("compactor", keepLastCompactor({ keepMessages })),
  });

  describe("updateAgentState", () => {
    test("edits what is stored, or a fresh state, and returns a copy of what was saved", async () => {
      const store = new FaultyStore({ fused });
      const agent = agentOn(store);
      const made = await agent.updateAgentState("u", "s", (state) => {
        expect(outline(state)).toEqual([]);
        expect([state.userId, state.sessionId]).toEqual(["u", "s"]);
        state.contextMutable().push(userMessage("put here"));
        state.planModeContext.active = true;
      });
      expect(outline(made)).toEqual(["user: put here"]);
      made.contextMutable().push(userMessage("not saved"));
      await agent.updateAgentState({ userId: "u", sessionId: "s" }, async (state) => {
        await Promise.resolve();
        state.tasksContext.tasks = [{ content: "t", status: "pending" }];
      });
      const state = await agentOn(store).getAgentState("u", "s");
      expect(outline(state)).toEqual(["user: put here"]);
      expect(state?.planModeContext.active).toBe(true);
      expect(state?.tasksContext.tasks).toHaveLength(1);
      const reply = await agent.call("go on", { userId: "u", sessionId: "s" });
      expect(reply.text).toBe("ok");
      expect(outline(logged(await logRecords(store, slotOf("s", "u"))))[0]).toBe("user: put here");
    });

    test("saves nothing when the edit throws, and frees the session", async () => {
      const store = new FaultyStore({ fused });
      const agent = agentOn(store);
      await agent.call("x", ctx);
      const edit = agent.updateAgentState(null, "s", (state) => {
        state.contextMutable().replaceAll([]);
        throw new Error("changed my mind");
      });
      await expect(edit).rejects.toThrow("changed my mind");
      expect(outline(await agent.getAgentState(null, "s"))).toHaveLength(2);
      await agent.call("y", ctx);
      expect(outline(await agent.getAgentState(null, "s"))).toHaveLength(4);
    });

    test("waits its turn among calls", async () => {
      const { agent, reached, release } = heldAgent(new FaultyStore({ fused }));
      const running = agent.call("1", ctx);
      await reached.opened;
      const update = agent.updateAgentState(null, "s", (state) => {
        state.contextMutable().push(userMessage("between"));
      });
      const next = agent.call("2", ctx);
      release.open();
      // What it returns is what it saved, not what the call behind it has said by then.
      expect(outline((await Promise.all([running, update, next]))[1])).toHaveLength(3);
      expect(outline(await agent.getAgentState(null, "s"))).toEqual([
        "user: 1",
        "assistant: ok",
        "user: between",
        "user: 2",
        "assistant: ok",
      ]);
    });

    test("puts a whole state in the place of the stored one, and logs what is new in it", async () => {
      const [from, to] = [new FaultyStore({ fused }), new FaultyStore({ fused })];
      const source = agentOn(from);
      for (const text of ["one", "two"]) await source.call(text, ctx);
      const document = (await source.getAgentState(null, "s"))?.toJson() ?? "";
      const target = agentOn(to);
      for (let times = 0; times < 2; times++)
        await target.updateAgentState(null, "s", () => AgentState.fromJsonString(document));
      expect((await target.getAgentState(null, "s"))?.toJson()).toBe(document);
      expect(outline(logged(await logRecords(to, slotOf())))).toEqual([
        "user: one",
        "assistant: ok",
        "user: two",
        "assistant: ok",
      ]);
      const model = scriptedModel(["three"]);
      await agentOn(to, { model }).call("go on", ctx);
      expect(model.requests[0]?.messages).toHaveLength(5);
    });

    test.each([
      { userId: null, sessionId: "t" },
      { userId: "mallory", sessionId: "s" },
    ])("refuses a whole state of another session: $userId $sessionId", async (ids) => {
      const store = new FaultyStore({ fused });
      const agent = agentOn(store);
      const update = agent.updateAgentState(null, "s", () => AgentState.create(ids));
      await expect(update).rejects.toSatisfy(InvalidInputError.is);
      expect(store.of("save")).toEqual([]);
    });
  });

  describe("compact", () => {
    test("without a compactor is a ConfigurationError, and the session stays free", async () => {
      const agent = agentOn(new FaultyStore({ fused }));
      await agent.call("x", ctx);
      await expect(agent.compact(null, "s")).rejects.toSatisfy(ConfigurationError.is);
      expect((await agent.call("y", ctx)).text).toBe("ok");
    });

    test("shortens the stored context, with the hooks told what leaves it", async () => {
      const store = new FaultyStore({ fused });
      const dropped: string[][] = [];
      const agent = agentOn(store, {
        plugins: [compactor(2)],
        middleware: [
          {
            name: "listens",
            onContextDrop: (step, next) => {
              dropped.push(outline(step.messages));
              return next();
            },
          },
        ],
      });
      for (const text of ["1", "2", "3"]) await agent.call(text, ctx);
      const result = await agent.compact(null, "s", { force: true });
      expect(result).toEqual({ compacted: true, messagesBefore: 6, messagesAfter: 2 });
      expect(dropped).toEqual([["user: 1", "assistant: ok", "user: 2", "assistant: ok"]]);
      expect(outline(await agentOn(store).getAgentState(null, "s"))).toEqual([
        "user: 3",
        "assistant: ok",
      ]);
      expect(outline(logged(await logRecords(store, slotOf())))).toHaveLength(6);
    });

    test("hands force and the other options to the compactor, which does nothing below its trigger", async () => {
      const store = new FaultyStore({ fused });
      const requests: unknown[] = [];
      const agent = agentOn(store, {
        plugins: [
          {
            name: "compactor",
            contract: 1,
            setup: (host) =>
              host.provide("compactor", {
                compact: async ({ state, cause, force, overrides }) => {
                  requests.push({ cause, force, overrides });
                  const length = state.context.length;
                  return { compacted: false, messagesBefore: length, messagesAfter: length };
                },
              }),
          },
        ],
      });
      await agent.call("x", ctx);
      const saves = store.of("save").length;
      expect(await agent.compact(null, "s")).toMatchObject({ compacted: false });
      await agent.compact({ sessionId: "s" }, { force: true, keepMessages: 3 });
      expect(requests).toEqual([
        { cause: "manual", force: false, overrides: {} },
        { cause: "manual", force: true, overrides: { keepMessages: 3 } },
      ]);
      expect(store.of("save")).toHaveLength(saves);
    });
  });
});
