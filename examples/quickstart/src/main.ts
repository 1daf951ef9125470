import { tool } from "@holdfast/core";
import { HarnessAgent } from "@holdfast/harness";
import { scriptedModel } from "@holdfast/testing";
import { z } from "zod";

const weather = tool({
  name: "weather",
  description: "Returns the weather in a city.",
  input: z.object({ city: z.string() }),
  execute: ({ city }) => (city === "Oslo" ? "4 degrees and rain" : "31 degrees and sun"),
});

// A script in place of a provider, so that this runs offline. With a key of your own:
// fromAiSdk(anthropic("claude-sonnet-5-5")) of @holdfast/model-ai-sdk and @ai-sdk/anthropic.
const model = scriptedModel([
  { toolCalls: [{ name: "weather", input: { city: "Oslo" } }] },
  "Yes, take an umbrella: 4 degrees and rain in Oslo.",
  { toolCalls: [{ name: "weather", input: { city: "Cairo" } }] },
  "No, 31 degrees and sun in Cairo.",
]);

const agent = HarnessAgent.builder()
  .name("guide")
  .model(model)
  .systemPrompt("You answer questions about the weather.")
  .tools(weather)
  .build();

// One agent serves every user. The ids decide which session is loaded before a call and saved after it.
const alice = await agent.call("Umbrella in Oslo?", { userId: "alice", sessionId: "trip" });
const bob = await agent.call("Umbrella in Cairo?", { userId: "bob", sessionId: "trip" });
console.log("alice:", alice.text);
console.log("bob:", bob.text);
await agent.close();
