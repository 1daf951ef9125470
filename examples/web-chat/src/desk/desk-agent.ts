import type { DistributedStore, Model } from "@holdfast/core";
import { HarnessAgent } from "@holdfast/harness";
import { hasFileTools, hasSessionTools, plugins } from "../parts.js";
import { deskTools } from "./desk-tools.js";

/** Name under which sessions are stored. @public projects that are made of this example configure the command with it */
export const deskName = "harbour-desk";

/** First part of the system prompt. @public as the name above */
export const deskPrompt = "You are the desk of a small harbour.";

/** Builds the agent: the same in every process. */
export function deskAgent(model: Model, store: DistributedStore): HarnessAgent {
  return (
    HarnessAgent.builder()
      .name(deskName)
      .systemPrompt(deskPrompt)
      .model(model)
      .tools(...deskTools)
      .use(...plugins)
      .sessionTools(hasSessionTools)
      .workspace("./.holdfast/workspace", { tools: hasFileTools })
      .distributedStore(store)
      .requireSession("user")
      // Any process shows a reply that another one writes, and goes on with it when that one dies.
      .eventFeed()
      .recover()
      .build()
  );
}
