import { StoreUnavailableError, UnknownOutcomeError } from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { agentOn } from "./agent-on.js";
import { logged, logRecords, outcomes, outline, slotOf } from "./conversation.js";
import { FaultyStore, lostAnswer, noAnswer, unavailable } from "./faulty-store.js";
import { callNoop, noop } from "./noop-tool.js";

const ctx = { sessionId: "s" };

describe.each([true, false])("a store that fails, fused: %s", (fused) => {
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
