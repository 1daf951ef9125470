// Makes calls on one session and prints a line for each reply; "wait" calls a model that answers only when interrupted.
// Usage: node agent-process.mjs <location> <name> <calls>
import { textOf } from "@holdfast/core";
import { HarnessAgent } from "@holdfast/harness";
import { scriptedModel } from "@holdfast/testing";
import { open } from "./redis-client.mjs";

const [location, name, calls] = process.argv.slice(2);
const store = open(location);
const quick = scriptedModel(({ messages }) => ({
  text: `re: ${textOf(messages.at(-1))}`,
  usage: { inputTokens: 1, outputTokens: 1 },
}));
const slow = {
  ...quick,
  async *stream({ signal }) {
    yield { type: "text_delta", text: "thinking" };
    process.stdout.write("running\n");
    await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  },
};
const agent = HarnessAgent.builder()
  .name("shared")
  .model(calls === "wait" ? slow : quick)
  .stateStore(store)
  .build();
const session = { userId: "u", sessionId: "s" };
for (let n = 0; n < (calls === "wait" ? 1 : Number(calls)); n++) {
  const reply = await agent.call(`${name}-${n}`, session);
  process.stdout.write(`${calls === "wait" ? reply.reason : reply.text}\n`);
}
await agent.close();
await store.close();
