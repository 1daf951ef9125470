import { type AgentStateStore, ReActAgent, type ReActAgentOptions } from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";

/** An agent over this store whose model always answers "ok", unless the options say otherwise. */
export function agentOn(
  store: AgentStateStore,
  options: Partial<ReActAgentOptions> = {},
): ReActAgent {
  return new ReActAgent({
    name: "a",
    model: scriptedModel(() => "ok"),
    stateStore: store,
    ...options,
  });
}
