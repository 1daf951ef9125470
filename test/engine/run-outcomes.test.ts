import { InProcessSessionGate, type Middleware, tool } from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { agentOn } from "./agent-on.js";
import { fates, keptInLog, logged, logRecords, outline, slotOf } from "./conversation.js";
import { door } from "./door.js";
import { keptStores, newStore } from "./kept-stores.js";
import { modelOf, stallingModel } from "./models.js";

const ctx = { sessionId: "s" };
const once = { ...ctx, callId: "once" };

describe.each(keptStores)("on %s: the log tells runs of one callId apart", (kind) => {
  test("a holder that wrote ahead and stood still does not hide the turn of the node that repeated its call", async () => {
    const store = await newStore(kind);
    const [stands, release] = [door(), door()];
    const look = tool({
      name: "look",
      description: "Looks.",
      input: z.object({}),
      execute: () => "much",
    });
    // A result that enters the context shortened is written to the log at once.
    const shorten: Middleware = {
      name: "shorten",
      onToolResult: (result) => ({ ...result, output: [{ type: "text", text: "short" }] }),
    };
    const standing = agentOn(store, {
      gate: new InProcessSessionGate(),
      tools: [look],
      middleware: [shorten],
      model: scriptedModel(async (_, index) => {
        if (index === 0) return { toolCalls: [{ name: "look", input: {} }] };
        stands.open();
        await release.opened;
        return "too late";
      }),
    });
    const late = standing.call("question", once).catch((error) => error);
    await stands.opened;
    expect(outline(logged(await logRecords(store, slotOf()))).at(-1)).toBe("tool: success much");
    const agent = agentOn(store, { model: scriptedModel(["in time"]) });
    expect((await agent.call("question", once)).text).toBe("in time");
    release.open();
    expect(await late).toMatchObject({ errorClass: "CONFLICT" });
    const said = ["user: question", "assistant: in time"];
    expect(outline(await agent.getAgentState(null, "s"))).toEqual(said);
    expect(await keptInLog(store, slotOf())).toEqual(said);
    expect(await fates(store, slotOf())).toContain("committed assistant: in time");
  });

  test("a repeated call that is rolled back does not take the words of its first run with it", async () => {
    const store = await newStore(kind);
    const failing = scriptedModel([{ text: "half a sentence", error: new Error("no model") }]);
    const first = agentOn(store, { model: failing, modelRetry: { attempts: 1 } });
    await expect(first.call("question", once)).rejects.toThrow("no model");
    const before = outline(await first.getAgentState(null, "s"));
    expect(before[0]).toBe("user: question");
    const reached = door();
    const agent = agentOn(store, {
      model: modelOf((request, index) =>
        (index === 0 ? stallingModel("again", reached.open) : scriptedModel(["fine"])).stream(
          request,
        ),
      ),
    });
    const retried = agent.call("question", once);
    await reached.opened;
    await agent.call("something else", { ...ctx, onBusy: "rollback" });
    await retried;
    const said = [...before, "user: something else", "assistant: fine"];
    expect(outline(await agent.getAgentState(null, "s"))).toEqual(said);
    expect(await keptInLog(store, slotOf())).toEqual(said);
  });

  test("what a successor says about a dead run's tools is logged under that run", async () => {
    const store = await newStore(kind);
    const reached = door();
    const hang = tool({
      name: "hang",
      description: "Never ends.",
      input: z.object({}),
      execute: () => {
        reached.open();
        return new Promise(() => undefined);
      },
    });
    const dying = agentOn(store, {
      gate: new InProcessSessionGate(),
      persistence: "step",
      tools: [hang],
      model: scriptedModel([{ toolCalls: [{ name: "hang", input: {} }] }]),
    });
    dying.call("question", { ...ctx, callId: "dead" }).catch(() => undefined);
    await reached.opened;
    await agentOn(store).call("next", { ...ctx, callId: "finder" });
    const records = await logRecords(store, slotOf());
    const repair = records.filter(({ message }) => message?.role === "tool");
    expect(repair.map(({ callId }) => callId)).toEqual(["dead"]);
    expect(outline(logged(records.filter(({ callId }) => callId === "finder")))).toEqual([
      "user: next",
      "assistant: ok",
    ]);
  });
});
