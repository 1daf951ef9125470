import {
  type AgentEvent,
  assistantMessage,
  CallAbortedError,
  InProcessSessionGate,
  type Message,
  ReActAgent,
  type ReActAgentOptions,
  StateCorruptError,
  StateTooLargeError,
  StoreUnavailableError,
  tool,
  UnknownOutcomeError,
  userMessage,
} from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { expectPaired, logged, logRecords, outcomes, outline, slotOf } from "./conversation.js";
import { door } from "./door.js";
import { FaultyStore, lostAnswer, noAnswer, unavailable } from "./faulty-store.js";
import { stallingModel } from "./models.js";

const ctx = { sessionId: "s" };
const noop = tool({
  name: "noop",
  description: "Does nothing.",
  input: z.object({}),
  execute: () => "done",
});
const callNoop = { toolCalls: [{ name: "noop", input: {} }] };

describe.each([true, false])("saves, fused: %s", (fused) => {
  const agentOn = (store: FaultyStore, options: Partial<ReActAgentOptions> = {}) =>
    new ReActAgent({ name: "a", model: scriptedModel(() => "ok"), stateStore: store, ...options });

  describe("how often", () => {
    test.each([
      ["call", [true], 1],
      ["step", [false, false, false, false, true], 5],
    ] as const)("persistence %s", async (persistence, finals, saves) => {
      const store = new FaultyStore({ fused });
      const events: AgentEvent[] = [];
      const agent = agentOn(store, {
        persistence,
        tools: [noop],
        // Reasoning and acting, twice, and a last reasoning whose save is the call's.
        model: scriptedModel([callNoop, callNoop, "done"]),
        onEvent: (event) => events.push(event),
      });
      await agent.call("go", ctx);
      const saved = events.flatMap((event) => (event.type === "state_saved" ? [event] : []));
      expect(saved.map(({ final }) => final)).toEqual(finals);
      expect(store.of("save")).toHaveLength(saves);
      expect(saved.map(({ revision }) => revision)).toEqual(
        store.of("save").map(({ answer }) => answer),
      );
      for (const { bytes } of saved) expect(bytes).toBeGreaterThan(0);
    });

    test("with step saves the store has, at any moment, what was done until then", async () => {
      const store = new FaultyStore({ fused });
      const seen: string[][] = [];
      const spy = tool({
        name: "spy",
        description: "Looks at what is stored.",
        input: z.object({}),
        execute: async () => {
          const stored = await store.inner.load(slotOf());
          if (stored && stored !== "unchanged") {
            seen.push(outline(stored.messages));
            seen.push(Object.values(stored.head["openCalls"] as object));
          }
          return "seen";
        },
      });
      const call = { toolCalls: [{ name: "spy", input: {} }] };
      const model = scriptedModel([call, call, "done"]);
      await agentOn(store, { persistence: "step", tools: [spy], model }).call("go", ctx);
      expect(seen).toEqual([
        ["user: go", "assistant: call spy"],
        ["started"],
        ["user: go", "assistant: call spy", "tool: success seen", "assistant: call spy"],
        ["started"],
      ]);
    });

    test("the tools a call resumed are saved before the model is asked again", async () => {
      const store = new FaultyStore({ fused });
      await agentOn(store).updateAgentState(null, "s", (state) => {
        const call = { type: "tool_call" as const, id: "1", name: "noop", input: {} };
        state.contextMutable().push(userMessage("go"), assistantMessage([call]));
        state.openCalls = { "1": "pending" };
        state.shutdownInterrupted = true;
      });
      const seen: string[][] = [];
      const model = scriptedModel(async () => {
        const stored = await store.inner.load(slotOf());
        if (stored && stored !== "unchanged") seen.push(outline(stored.messages));
        return "ok";
      });
      await agentOn(store, { model, persistence: "step", tools: [noop] }).call("next", ctx);
      expect(seen).toEqual([["user: go", "assistant: call noop", "tool: success done"]]);
    });
  });

  describe("what a call that does not end well leaves", () => {
    test("a model error: the input, with nothing doubled when the call is made again", async () => {
      const store = new FaultyStore({ fused });
      const model = scriptedModel([{ error: new Error("no model") }, "now"]);
      const agent = agentOn(store, { model });
      const error = await agent.call("hello", ctx).catch((reason) => reason);
      expect(error.message).toBe("no model");
      expect(error).not.toHaveProperty("saveError");
      expect(outline(await agent.getAgentState(null, "s"))).toEqual(["user: hello"]);
      expect(outcomes(await logRecords(store, slotOf()))).toEqual(["error"]);
      await agent.call("again", ctx);
      expect(outline(model.requests[1]?.messages)).toEqual(["user: hello", "user: again"]);
    });

    test("a model error in the middle: the input and every finished step, paired", async () => {
      const store = new FaultyStore({ fused });
      const model = scriptedModel([callNoop, { error: new Error("no model") }]);
      const agent = agentOn(store, { model, tools: [noop] });
      await expect(agent.call("hello", ctx)).rejects.toThrow("no model");
      const state = await agent.getAgentState(null, "s");
      expect(outline(state)).toEqual(["user: hello", "assistant: call noop", "tool: success done"]);
      expect(state?.unfinishedRun).toBeNull();
    });

    test("an abort while the model talks: the text so far", async () => {
      const store = new FaultyStore({ fused });
      const reached = door();
      const agent = agentOn(store, { model: stallingModel("half", reached.open) });
      const controller = new AbortController();
      const running = agent.call("hello", { ...ctx, signal: controller.signal });
      await reached.opened;
      const why = new Error("gone");
      controller.abort(why);
      const error = await running.catch((reason) => reason);
      expect(CallAbortedError.is(error)).toBe(true);
      expect(error.cause).toBe(why);
      expect(outline(await agent.getAgentState(null, "s"))).toEqual([
        "user: hello",
        "assistant: half",
      ]);
      expect(outcomes(await logRecords(store, slotOf()))).toEqual(["interrupted"]);
    });

    test("an abort while a tool runs: what is done, with the open call closed", async () => {
      const store = new FaultyStore({ fused });
      const reached = door();
      let aborted: AbortSignal | undefined;
      const hang = tool({
        name: "hang",
        description: "Never ends.",
        input: z.object({}),
        execute: (_, { signal }) => {
          aborted = signal;
          reached.open();
          return new Promise(() => undefined);
        },
      });
      const script = [callNoop, { toolCalls: [{ name: "hang", input: {} }] }];
      const agent = agentOn(store, { model: scriptedModel(script), tools: [noop, hang] });
      const controller = new AbortController();
      const running = agent.call("hello", { ...ctx, signal: controller.signal });
      await reached.opened;
      controller.abort();
      await expect(running).rejects.toSatisfy(CallAbortedError.is);
      expect(aborted?.aborted).toBe(true);
      const state = await agent.getAgentState(null, "s");
      expectPaired(state?.context ?? []);
      expect(outline(state)).toEqual([
        "user: hello",
        "assistant: call noop",
        "tool: success done",
        "assistant: call hang",
        expect.stringMatching(/^tool: interrupted /),
      ]);
      expect(state?.openCalls).toEqual({});
    });

    test("a reader that leaves the stream: everything, the call runs to its end", async () => {
      const store = new FaultyStore({ fused });
      const agent = agentOn(store, { model: scriptedModel([callNoop, "done"]), tools: [noop] });
      const run = agent.stream("hello", ctx);
      for await (const _ of run) break;
      expect((await run.result).text).toBe("done");
      expect(outline(await agent.getAgentState(null, "s"))).toHaveLength(4);
    });
  });

  describe("a session that cannot be loaded", () => {
    test("fails the call, and nothing is written", async () => {
      const store = new FaultyStore({ fused });
      const gate = fused ? new InProcessSessionGate() : undefined;
      const model = scriptedModel([]);
      const agent = agentOn(store, { model, ...(gate && { gate }) });
      store.next("load", unavailable);
      await expect(agent.call("hello", ctx)).rejects.toSatisfy(StoreUnavailableError.is);
      expect(model.requests).toHaveLength(0);
      expect([...store.of("save"), ...store.of("append")]).toEqual([]);
      expect(await logRecords(store, slotOf())).toEqual([]);
    });

    test.each([
      ["no state document", { format: "something else" }],
      ["a damaged section", { openCalls: { x: "sideways" } }],
      ["another session's", { sessionId: "t" }],
      ["another user's", { userId: "mallory" }],
    ])("because it is damaged, %s, is never overwritten", async (_, damage) => {
      const store = new FaultyStore({ fused });
      const healthy = agentOn(store);
      await healthy.call("precious", ctx);
      const stored = await store.inner.load(slotOf());
      if (!stored || stored === "unchanged") throw new Error("nothing stored");
      const { head, revision } = stored;
      const write = { keep: stored.messages.length, replace: [], append: [] };
      await store.inner.save(slotOf(), {
        ...write,
        op: "damage",
        expected: revision,
        head: { ...head, ...damage },
      });
      const before = await store.inner.load(slotOf());
      for (const agent of [healthy, agentOn(store)]) {
        await expect(agent.call("hello", ctx)).rejects.toSatisfy(StateCorruptError.is);
        await expect(agent.getAgentState(null, "s")).rejects.toSatisfy(StateCorruptError.is);
        const update = agent.updateAgentState(null, "s", () => undefined);
        await expect(update).rejects.toSatisfy(StateCorruptError.is);
      }
      expect(await store.inner.load(slotOf())).toEqual(before);
      expect(await healthy.deleteSession(null, "s")).toBe(true);
    });
  });

  describe("a store that fails", () => {
    test("and comes back is asked again with the very same write", async () => {
      const store = new FaultyStore({ fused });
      const agent = agentOn(store);
      store.next("save", unavailable, unavailable);
      expect((await agent.call("hello", ctx)).text).toBe("ok");
      const ops = store.writes.map(({ op }) => op);
      expect(ops).toHaveLength(3);
      expect(new Set(ops).size).toBe(1);
    });

    test("a lost answer never doubles a turn, whichever save it hits", async () => {
      for (let hit = 0; hit < 4; hit++) {
        const store = new FaultyStore({ fused });
        const agent = agentOn(store, {
          persistence: "step",
          tools: [noop],
          model: scriptedModel([callNoop, "done", "second"]),
        });
        store.next("save", ...Array(hit).fill(undefined), lostAnswer, lostAnswer);
        store.next("append", ...Array(hit).fill(undefined), lostAnswer);
        await agent.call("one", ctx);
        await agent.call("two", ctx);
        const turns = [
          "user: one",
          "assistant: call noop",
          "tool: success done",
          "assistant: done",
          "user: two",
          "assistant: second",
        ];
        expect(outline(await agent.getAgentState(null, "s"))).toEqual(turns);
        const records = await logRecords(store, slotOf());
        expect(outline(logged(records))).toEqual(turns);
        expect(outcomes(records)).toEqual(["committed", "committed"]);
        expect(await store.companions().gate.calls(slotOf())).toEqual([]);
      }
    });

    test("and stays away: the call fails within saveDeadlineMs, and the error carries the reply", async () => {
      for (const fault of [unavailable, noAnswer]) {
        const store = new FaultyStore({ fused });
        const agent = agentOn(store, { saveDeadlineMs: 30 });
        store.every("save", fault);
        const error = await agent.call("hello", ctx).catch((reason) => reason);
        expect([StoreUnavailableError, UnknownOutcomeError].some((kind) => kind.is(error))).toBe(
          true,
        );
        expect(error.reply).toMatchObject({ reason: "stop", text: "ok" });
        expect(Object.keys(error)).not.toContain("reply");
        expect(JSON.stringify(error)).not.toContain('"ok"');
        expect(new Set(store.writes.map(({ op }) => op)).size).toBe(1);
        store.every("save", undefined);
        await agent.call("again", ctx);
        expect(outline(await agent.getAgentState(null, "s"))).toEqual([
          "user: again",
          "assistant: ok",
        ]);
      }
    });

    test("with a log that gives no answer either: the call ends all the same", async () => {
      const store = new FaultyStore({ fused });
      const agent = agentOn(store, { saveDeadlineMs: 30 });
      store.every("save", unavailable);
      store.every("append", noAnswer);
      const error = await agent.call("hello", ctx).catch((reason) => reason);
      expect(error.reply).toMatchObject({ text: "ok" });
      expect(await store.companions().gate.calls(slotOf())).toEqual([]);
    });

    test("while a call fails anyway: the call's own error is thrown, the store's is attached", async () => {
      const store = new FaultyStore({ fused });
      const model = scriptedModel([{ error: new Error("no model") }]);
      const agent = agentOn(store, { model, saveDeadlineMs: 30 });
      store.every("save", unavailable);
      const error = await agent.call("hello", ctx).catch((reason) => reason);
      expect(error.message).toBe("no model");
      expect(StoreUnavailableError.is(error.saveError)).toBe(true);
      expect(Object.keys(error)).not.toContain("saveError");
    });
  });

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
      ).toEqual([
        [5_000, 0, 2],
        [5_002, 0, 2],
      ]);
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
