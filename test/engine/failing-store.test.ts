import { StoreUnavailableError, UnknownOutcomeError } from "@holdfast/core";
import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { agentOn } from "./agent-on.js";
import { logged, logRecords, outcomes, outline, slotOf } from "./conversation.js";
import { type Fault, FaultyStore, lostAnswer, noAnswer, unavailable } from "./faulty-store.js";
import { callNoop, noop } from "./noop-tool.js";

const ctx = { sessionId: "s" };

describe.each([true, false])("a store that fails, fused: %s", (fused) => {
  test("and comes back is asked again with the very same write", async () => {
    // Without an inbox at the gate, the input is saved first.
    const saves = fused ? 1 : 2;
    for (let hit = 0; hit < saves; hit++) {
      const store = new FaultyStore({ fused });
      const agent = agentOn(store);
      store.next("save", ...Array(hit).fill(undefined), unavailable, unavailable);
      expect((await agent.call("hello", ctx)).text).toBe("ok");
      const ops = store.writes.map(({ op }) => op);
      const attempts = [...new Set(ops)].map((op) => ops.filter((each) => each === op).length);
      expect(attempts).toEqual(Array(saves).fill(1).with(hit, 3));
    }
  });

  test("a lost answer never doubles a turn, whichever save it hits", async () => {
    for (let hit = 0; hit < (fused ? 4 : 6); hit++) {
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
      const writes = new Set(store.writes.map(({ op }) => op));
      expect(writes.size).toBe(fused ? 4 : 6);
    }
  });

  /** An agent whose store fails from the moment its model is asked. */
  function failingLate(fault: Fault, reply: ScriptedReply = "ok") {
    const store = new FaultyStore({ fused });
    const model = scriptedModel((_, index) => {
      if (index > 0) return "ok";
      store.commands.length = 0;
      store.every("save", fault);
      return reply;
    });
    return { store, agent: agentOn(store, { model, saveDeadlineMs: 30 }) };
  }

  test("and stays away: the call fails within saveDeadlineMs, the error carries the reply, the next call hears the input", async () => {
    for (const fault of [unavailable, noAnswer]) {
      const { store, agent } = failingLate(fault);
      const error = await agent.call("hello", ctx).catch((reason) => reason);
      expect([StoreUnavailableError, UnknownOutcomeError].some((kind) => kind.is(error))).toBe(
        true,
      );
      // Words of those who call an agent, not of those who write a store.
      expect(error.message).not.toMatch(/\bop\b|the save\b/);
      if (fault === noAnswer)
        expect(error.message).toContain("Repeat the call with the same callId");
      expect(error.reply).toMatchObject({ reason: "stop", text: "ok" });
      expect(Object.keys(error)).not.toContain("reply");
      expect(JSON.stringify(error)).not.toContain('"ok"');
      expect(new Set(store.writes.map(({ op }) => op)).size).toBe(1);
      store.every("save", undefined);
      await agent.call("again", ctx);
      expect(outline(await agent.getAgentState(null, "s"))).toEqual([
        "user: hello",
        "user: again",
        "assistant: ok",
      ]);
    }
  });

  test("with a log that gives no answer either: the call ends all the same", async () => {
    const { store, agent } = failingLate(unavailable);
    store.every("append", noAnswer);
    const error = await agent.call("hello", ctx).catch((reason) => reason);
    expect(error.reply).toMatchObject({ text: "ok" });
    expect(await store.companions().gate.calls(slotOf())).toEqual([]);
  });

  test("while a call fails anyway: the call's own error is thrown, the store's is attached", async () => {
    const { agent } = failingLate(unavailable, { error: new Error("no model") });
    const error = await agent.call("hello", ctx).catch((reason) => reason);
    expect(error.message).toBe("no model");
    expect(StoreUnavailableError.is(error.saveError)).toBe(true);
    expect(Object.keys(error)).not.toContain("saveError");
  });
});

test("a store that is away fails the call before the model is asked, where the gate keeps no input", async () => {
  for (const fault of [unavailable, noAnswer]) {
    const store = new FaultyStore({ fused: false });
    const model = scriptedModel(() => "ok");
    const agent = agentOn(store, { model, saveDeadlineMs: 30 });
    store.every("save", fault);
    const error = await agent.call("hello", ctx).catch((reason) => reason);
    expect([StoreUnavailableError, UnknownOutcomeError].some((kind) => kind.is(error))).toBe(true);
    expect(error).not.toHaveProperty("reply");
    expect(model.requests).toEqual([]);
    store.every("save", undefined);
    await agent.call("again", ctx);
    expect(outline(await agent.getAgentState(null, "s"))).toEqual(["user: again", "assistant: ok"]);
  }
});
