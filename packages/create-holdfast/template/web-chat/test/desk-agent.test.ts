import assert from "node:assert/strict";
import { test } from "node:test";
import { InMemoryAgentStateStore } from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { deskAgent } from "../src/desk/desk-agent.js";

test("the desk looks for overdue bookings and answers with what it found", async () => {
  // Stands in for a provider: decides by what it is shown.
  const model = scriptedModel(({ messages }) =>
    JSON.stringify(messages).includes("Heron")
      ? "Heron is three days late."
      : { toolCalls: [{ name: "find_bookings", input: { status: "overdue" } }] },
  );
  const agent = deskAgent(model, new InMemoryAgentStateStore().companions());
  const reply = await agent.call("Which are late?", { userId: "alice", sessionId: "desk" });
  await agent.close();
  assert.equal(reply.text, "Heron is three days late.");
});
