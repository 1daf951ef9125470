import { StateConflictError } from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { fates, logRecords, outcomes, outline, slotOf } from "./conversation.js";
import { door } from "./door.js";
import { FaultyStore } from "./faulty-store.js";
import { agentOn, edits, overlap, slowAgent } from "./overlapping-calls.js";

const ctx = { sessionId: "s" };

describe.each([true, false])("two holders of one session, fused log: %s", (fused) => {
  test("fail: exactly one gets StateConflictError, the other's turn stands behind what both heard, the log says which", async () => {
    const store = new FaultyStore({ fused });
    const slow = slowAgent(store);
    const fast = agentOn(store);
    const error = await overlap(
      slow,
      () => fast.call("second", { ...ctx, callId: "winner" }),
      "loser",
    ).catch((reason) => reason);
    expect(StateConflictError.is(error)).toBe(true);
    expect(error.reply).toMatchObject({ text: "slow" });
    expect(error.savedMessageIds).toEqual([]);
    expect(error.message).toMatch(
      /another process saved session "s" .* not saved. Repeat the call$/,
    );
    const stands = ["user: first", "user: second", "assistant: ok"];
    expect(outline(await fast.getAgentState(null, "s"))).toEqual(stands);
    const records = await logRecords(store, slotOf());
    const of = (id: string) => records.filter(({ callId }) => callId === id);
    expect(outcomes(of("winner"))).toEqual(["committed"]);
    expect(outcomes(of("loser")).at(-1)).toBe("conflict");
    // What the loser heard is there once, what it answered is not.
    expect(await fates(store, slotOf())).toEqual([
      "error user: first",
      "committed user: second",
      "committed assistant: ok",
      "conflict assistant: slow",
    ]);
    // The loser's copy is not to be trusted any more.
    await slow.agent.call("third", ctx);
    expect(outline(await fast.getAgentState(null, "s"))).toEqual([
      ...stands,
      "user: third",
      "assistant: slow",
    ]);
  });

  test("fail: also for a failing call, whose own error is the one that is thrown", async () => {
    const store = new FaultyStore({ fused });
    const [reached, release] = [door(), door()];
    const agent = agentOn(store, {
      model: scriptedModel(async () => {
        reached.open();
        await release.opened;
        return { error: new Error("no model") };
      }),
    });
    const fast = agentOn(store);
    const running = overlap({ agent, reached, release }, () => fast.call("second", ctx), "loser");
    const error = await running.catch((reason) => reason);
    expect(error.message).toBe("no model");
    expect(StateConflictError.is(error.saveError)).toBe(true);
    const records = await logRecords(store, slotOf());
    expect(outcomes(records.filter(({ callId }) => callId === "loser")).at(-1)).toBe("conflict");
    expect(outline(await fast.getAgentState(null, "s"))).toEqual([
      "user: first",
      "user: second",
      "assistant: ok",
    ]);
  });

  test("overwrite: the last one wins, whole", async () => {
    const store = new FaultyStore({ fused });
    await agentOn(store).call("base", ctx);
    const slow = slowAgent(store, { conflictPolicy: "overwrite" });
    await overlap(slow, () => agentOn(store, { middleware: [edits("plan")] }).call("second", ctx));
    const state = await agentOn(store).getAgentState(null, "s");
    expect(outline(state)).toEqual([
      "user: base",
      "assistant: ok",
      "user: first",
      "assistant: slow",
    ]);
    expect(state?.planModeContext.active).toBe(false);
    await slow.agent.call("next", ctx);
    expect(outline(await agentOn(store).getAgentState(null, "s")).slice(-2)).toEqual([
      "user: next",
      "assistant: slow",
    ]);
  });
});
