import { compaction } from "@holdfast/compaction";
import type { DistributedStore } from "@holdfast/core";
import { HarnessAgent } from "@holdfast/harness";
import { permissions } from "@holdfast/permissions";
import { planning } from "@holdfast/planning";
import { deskModel } from "./desk-model.js";
import { deskTools } from "./desk-tools.js";

/** Builds the agent: the same in every process. */
export function deskAgent(store: DistributedStore): HarnessAgent {
  return (
    HarnessAgent.builder()
      .name("harbour-desk")
      .systemPrompt("You are the desk of a small harbour.")
      .model(deskModel({ paceMs: Number(process.env["DESK_PACE_MS"] ?? 30) }))
      .tools(...deskTools)
      .use(permissions(), planning(), compaction({ triggerRatio: 0.7, keepTokens: 1_200 }))
      .distributedStore(store)
      .requireSession("user")
      // Any process shows a reply that another one writes, and goes on with it when that one dies.
      .eventFeed()
      .recover()
      .build()
  );
}
