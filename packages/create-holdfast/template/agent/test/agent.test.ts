import assert from "node:assert/strict";
import { test } from "node:test";
import { InMemoryAgentStateStore } from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { createAgent } from "../src/agent.js";

test("the agent looks at the weather, and a later process goes on with the session", async () => {
  // Stands in for a provider: decides by what it is shown, and remembers every request.
  const model = scriptedModel(({ messages }) =>
    JSON.stringify(messages).includes("4 degrees and rain in Oslo")
      ? "Take an umbrella."
      : { toolCalls: [{ name: "weather", input: { city: "Oslo" } }] },
  );
  const store = new InMemoryAgentStateStore().companions();
  const session = { userId: "alice", sessionId: "trip" };

  const first = createAgent(model, store);
  assert.equal((await first.call("Umbrella in Oslo?", session)).text, "Take an umbrella.");
  await first.close();

  const second = createAgent(model, store);
  await second.call("Are you sure?", session);
  await second.close();
  const shown = model.requests.map(({ messages }) => JSON.stringify(messages));
  assert.ok(shown.some((text) => /Umbrella in Oslo\?.*Are you sure\?/s.test(text)));
});
