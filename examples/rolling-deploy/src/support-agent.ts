import { setTimeout as sleep } from "node:timers/promises";
import { type DistributedStore, textOf, tool } from "@holdfast/core";
import { HarnessAgent } from "@holdfast/harness";
import { scriptedModel } from "@holdfast/testing";
import { z } from "zod";

const workMs = 15;

const lookUp = tool({
  name: "look_up_order",
  description: "Says where an order is.",
  input: z.object({ order: z.string() }),
  async execute({ order }) {
    await sleep(workMs);
    return `order ${order} is on its way`;
  },
});

/** The agent every process runs. It holds no conversation: those are in the store. */
export function supportAgent(store: DistributedStore): HarnessAgent {
  const model = scriptedModel(async ({ messages }) => {
    await sleep(workMs);
    const request = messages.findLast(({ role }) => role === "user");
    const question = request === undefined ? "" : textOf(request);
    if (messages.at(-1)?.role === "tool") return answerTo(question);
    return { toolCalls: [{ name: "look_up_order", input: { order: question } }] };
  });
  return HarnessAgent.builder()
    .name("support")
    .model(model)
    .tools(lookUp)
    .distributedStore(store)
    .build();
}

/** Returns the agent's answer to a question. */
export function answerTo(question: string): string {
  return `About ${question}: it is on its way.`;
}
