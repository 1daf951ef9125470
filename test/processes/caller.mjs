// Makes calls on one session and prints a line for each reply.
// Usage: node caller.mjs <name> <calls>; state home and workspace come from the environment.
import { textOf } from "@holdfast/core";
import { HarnessAgent } from "@holdfast/harness";
import { scriptedModel } from "@holdfast/testing";

const [name, calls] = [process.argv[2], Number(process.argv[3])];
const model = scriptedModel(({ messages }) => ({
  text: `re: ${textOf(messages.at(-1))}`,
  usage: { inputTokens: 1, outputTokens: 1 },
}));
const agent = HarnessAgent.builder()
  .name("shared")
  .model(model)
  .workspace(process.env.WORKSPACE)
  .build();
for (let n = 0; n < calls; n++) {
  const reply = await agent.call(`${name}-${n}`, { userId: "u", sessionId: "s" });
  process.stdout.write(`${reply.text}\n`);
}
await agent.close();
