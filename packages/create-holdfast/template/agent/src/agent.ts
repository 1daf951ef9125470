import type { DistributedStore, Model } from "@holdfast/core";
import { HarnessAgent } from "@holdfast/harness";
import { hasFileTools, hasSessionTools, plugins } from "./parts.js";
import { tools } from "./tools.js";

/** Name under which sessions are stored: keep it, and they stay. */
export const agentName = "__NAME__";

/** First part of the system prompt. */
export const systemPrompt = "You are a helpful assistant. Be brief.";

/** Builds the agent. One serves every user; all that changes is in the store. */
export function createAgent(model: Model, store: DistributedStore): HarnessAgent {
  return (
    HarnessAgent.builder()
      .name(agentName)
      .systemPrompt(systemPrompt)
      .model(model)
      .tools(...tools)
      .use(...plugins)
      .sessionTools(hasSessionTools)
      .workspace("./.holdfast/workspace", { tools: hasFileTools })
      .distributedStore(store)
      // What a process was doing when it died, another one finishes.
      .recover()
      .build()
  );
}
