import { type Message, StateTooLargeError, userMessage } from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { agentOn } from "./agent-on.js";
import { FaultyStore } from "./faulty-store.js";

const ctx = { sessionId: "s" };

describe.each([true, false])("what a turn may cost, fused: %s", (fused) => {
  describe("what a turn costs", () => {
    async function longSession(store: FaultyStore, length: number): Promise<void> {
      const messages: Message[] = Array.from({ length }, (_, n) => userMessage(`old ${n}`));
      await agentOn(store).updateAgentState(null, "s", (state) => {
        state.contextMutable().replaceAll(messages);
      });
    }

    test("a turn on a session of 5,000 messages sends two, warm or cold", async () => {
      const store = new FaultyStore({ fused });
      await longSession(store, 5_000);
      const agent = agentOn(store);
      store.commands.length = 0;
      await agent.call("cold", ctx);
      await agent.call("warm", ctx);
      expect(
        store.writes.map(({ keep, replace, append }) => [keep, replace.length, append.length]),
      ).toEqual(
        fused
          ? [
              [5_000, 0, 2],
              [5_002, 0, 2],
            ]
          : [
              // The input is in the head until the context has it.
              [5_000, 0, 0],
              [5_000, 0, 2],
              [5_002, 0, 0],
              [5_002, 0, 2],
            ],
      );
    });

    test("a warm turn asks the store nothing that it knows: an inbox that it put nothing into is not emptied", async () => {
      const store = new FaultyStore({ fused });
      const agent = agentOn(store);
      await agent.call("1", ctx);
      const namesOf = async (input: string) => {
        store.commands.length = 0;
        await agent.call(input, ctx);
        return store.commands
          .map(({ name }) => name)
          .filter((name) => /inbox|put|remove/i.test(name));
      };
      expect(await namesOf("short")).toEqual(fused ? [] : ["readInbox"]);
      // The head has no room for it.
      expect(await namesOf("l".repeat(100_000))).toEqual(
        fused ? [] : ["readInbox", "put", "remove"],
      );
      expect(
        await store.inner.inbox?.read({ agentId: agent.agentId, userId: null, sessionId: "s" }),
      ).toEqual([]);
    });

    test("a warm turn is told nothing but that its copy is good, and reads no message again", async () => {
      const store = new FaultyStore({ fused });
      await longSession(store, 100);
      const model = scriptedModel(() => "ok");
      const agent = agentOn(store, { model });
      await agent.call("1", ctx);
      store.commands.length = 0;
      await agent.call("2", ctx);
      await agent.call("3", ctx);
      const asked = store.commands.filter(({ name }) => name === (fused ? "acquire" : "load"));
      expect(asked).toHaveLength(2);
      for (const { known, answer } of asked) {
        expect(known).toMatch(/^\d+\./);
        expect(fused ? (answer as { loaded: unknown }).loaded : answer).toBe("unchanged");
      }
      const [first, second, third] = model.requests.map(({ messages }) => messages);
      expect(third?.length).toBe(105);
      for (const [index, message] of (second ?? []).entries()) expect(third?.[index]).toBe(message);
      for (const [index, message] of (first ?? []).entries()) expect(second?.[index]).toBe(message);
    });
  });

  describe("limits", () => {
    test("a head over limits.headBytes is refused, and what was stored stays", async () => {
      const store = new FaultyStore({ fused });
      const agent = agentOn(store, { limits: { headBytes: 2_000 } });
      await agent.call("fine", ctx);
      const grow = agent.updateAgentState(null, "s", (state) => {
        state.extensions["mine"] = "x".repeat(2_000);
      });
      await expect(grow).rejects.toSatisfy(StateTooLargeError.is);
      const state = await agent.getAgentState(null, "s");
      expect(state?.extensions).toEqual({});
      expect((await agent.call("still fine", ctx)).text).toBe("ok");
    });

    test("input over limits.messageBytes is refused before anything happens", async () => {
      const store = new FaultyStore({ fused });
      const model = scriptedModel([]);
      const agent = agentOn(store, { model, limits: { messageBytes: 1_000 } });
      const call = agent.call("x".repeat(1_000), ctx);
      await expect(call).rejects.toSatisfy(StateTooLargeError.is);
      expect(store.commands).toEqual([]);
    });

    test("a session over limits.stateBytes is refused with advice, and compacting it helps", async () => {
      const store = new FaultyStore({ fused });
      const agent = agentOn(store, {
        limits: { stateBytes: 2_000 },
        plugins: [
          {
            name: "shorten",
            contract: 1,
            setup: (host) =>
              host.provide("compactor", {
                compact: async ({ state }) => {
                  const messagesBefore = state.context.length;
                  state.contextMutable().splice(0, messagesBefore - 1);
                  return { compacted: true, messagesBefore, messagesAfter: 1 };
                },
              }),
          },
        ],
      });
      await agent.call("x".repeat(900), ctx);
      await agent.call("y".repeat(900), ctx);
      const saves = store.of("save").length;
      const error = await agent.call("one too many", ctx).catch((reason) => reason);
      expect(StateTooLargeError.is(error)).toBe(true);
      expect(error.message).toMatch(/compact/i);
      expect(error.message).not.toContain("xxx");
      expect(store.of("save")).toHaveLength(saves);
      await agent.compact(null, "s", { force: true });
      expect((await agent.call("fits again", ctx)).text).toBe("ok");
    });
  });
});
