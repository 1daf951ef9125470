import { InMemoryAgentStateStore, SessionBusyError } from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { agentOn } from "./agent-on.js";
import { logRecords, outcomes, outline, slotOf } from "./conversation.js";
import { door } from "./door.js";
import { stallingModel } from "./models.js";

const ctx = { sessionId: "s" };

describe.each([true, false])("a busy session, fused: %s", (fused) => {
  const newStore = () => new InMemoryAgentStateStore({ fused });
  test("reject: refused while a call runs, run when none does", async () => {
    const store = newStore();
    const reached = door();
    const agent = agentOn(store, { model: stallingModel("", reached.open) });
    const running = agent.call("1", ctx);
    await reached.opened;
    const refused = agent.call("2", { ...ctx, onBusy: "reject" });
    await expect(refused).rejects.toSatisfy(SessionBusyError.is);
    await agent.interrupt(null, "s");
    expect((await running).reason).toBe("interrupted");
    const other = agentOn(store);
    const reply = await other.call("3", { ...ctx, onBusy: "reject" });
    expect(reply.text).toBe("ok");
    expect(outline(await agent.getAgentState(null, "s"))).toEqual([
      "user: 1",
      "user: 3",
      "assistant: ok",
    ]);
  });

  test("interrupt: the running call ends as interrupted with its work kept, then the new one runs", async () => {
    const store = newStore();
    const reached = door();
    const first = agentOn(store, { model: stallingModel("half a sen", reached.open) });
    const running = first.call("1", ctx);
    await reached.opened;
    const model = scriptedModel(["whole"]);
    const reply = await agentOn(store, { model }).call("2", { ...ctx, onBusy: "interrupt" });
    expect(reply).toMatchObject({ reason: "stop", text: "whole" });
    expect(await running).toMatchObject({ reason: "interrupted", text: "half a sen" });
    expect(outline(model.requests[0]?.messages)).toEqual([
      "user: 1",
      "assistant: half a sen",
      "user: 2",
    ]);
    expect(outcomes(await logRecords(store, slotOf()))).toEqual(["interrupted", "committed"]);
  });

  test("interrupt on an idle session is an ordinary call", async () => {
    const agent = agentOn(newStore());
    const reply = await agent.call("1", { ...ctx, onBusy: "interrupt" });
    expect(reply.reason).toBe("stop");
  });

  test("interrupt and rollback keep their place among calls made at the same moment", async () => {
    const store = newStore();
    const reached = door();
    const running = agentOn(store, { model: stallingModel("", reached.open) }).call("0", ctx);
    await reached.opened;
    const agent = agentOn(store);
    const calls = [
      agent.call("1", ctx),
      agent.call("2", { ...ctx, onBusy: "interrupt" }),
      agent.call("3", ctx),
    ];
    await Promise.all([running, ...calls]);
    const said = outline(await agent.getAgentState(null, "s"));
    expect(said.filter((line) => line.startsWith("user"))).toEqual([
      "user: 0",
      "user: 1",
      "user: 2",
      "user: 3",
    ]);
  });
});
