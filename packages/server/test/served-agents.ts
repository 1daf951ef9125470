import {
  InMemoryAgentStateStore,
  type Model,
  ReActAgent,
  type ReActAgentOptions,
  tool,
} from "@holdfast/core";
import * as z from "zod";
import type { Identify } from "../src/http/endpoint.js";

/** Takes the header `authorization` for the user's name. */
export const identify: Identify = (request) => request.headers.get("authorization");

/** Tool that asks before it runs. */
export const pay = tool({
  name: "pay",
  description: "Pays.",
  input: z.object({ cents: z.number() }),
  needsApproval: true,
  execute: ({ cents }) => ({ paid: cents }),
});

/** Tool that runs at once. */
const weather = tool({
  name: "weather",
  description: "Tells the weather.",
  input: z.object({ city: z.string() }),
  execute: ({ city }) => ({ city, degrees: 4 }),
});

/** Makes an agent that keeps its events. */
export function servedAgent(model: Model, options: Partial<ReActAgentOptions> = {}): ReActAgent {
  return new ReActAgent({
    name: "served",
    model,
    stateStore: new InMemoryAgentStateStore(),
    tools: [pay, weather],
    eventFeed: true,
    ...options,
  });
}
