import { userMessage } from "@holdfast/core";
import { describe, expect, test } from "vitest";
import { agentOn } from "./agent-on.js";
import { fates, slotOf } from "./conversation.js";
import { FaultyStore } from "./faulty-store.js";

const ctx = { sessionId: "s" };

describe.each([true, false])("what the log says of a call, fused: %s", (fused) => {
  test("does not change when the session is updated behind it", async () => {
    const store = new FaultyStore({ fused });
    const agent = agentOn(store);
    await agent.call("first", ctx);
    const note = (text: string) =>
      agent.updateAgentState(null, "s", (state) => {
        state.extensions["note"] = text;
      });
    await note("a");
    const first = ["committed user: first", "committed assistant: ok"];
    expect(await fates(store, slotOf())).toEqual(first);
    await note("b");
    await agent.updateAgentState(null, "s", (state) => {
      state.contextMutable().push(userMessage("pushed"));
    });
    expect((await fates(store, slotOf())).slice(0, 2)).toEqual(first);
    await agent.call("second", ctx);
    const all = await fates(store, slotOf());
    expect(all.slice(0, 2)).toEqual(first);
    expect(all.slice(-2)).toEqual(["committed user: second", "committed assistant: ok"]);
  });
});
