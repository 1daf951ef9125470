// An agent that answers "re: <question>"; the same in every process of a test.
import { textOf } from "@holdfast/core";
import { HarnessAgent } from "@holdfast/harness";
import { scriptedModel } from "@holdfast/testing";

/**
 * @param {import("@holdfast/core").DistributedStore} store
 * @param {{ beforeReply?: (text: string) => unknown, tools?: import("@holdfast/core").Tool[], saveDeadlineMs?: number,
 *   onEvent?: (event: import("@holdfast/core").AgentEvent) => void, workspace?: string }} options
 */
export function echoAgent(store, options = {}) {
  const model = scriptedModel(async ({ messages }) => {
    const last = messages.at(-1);
    const reply = await options.beforeReply?.(textOf(last));
    if (reply !== undefined) return reply;
    return { text: `re: ${textOf(last)}`, usage: { inputTokens: 1, outputTokens: 1 } };
  });
  return HarnessAgent.create({
    name: "echo",
    model,
    distributedStore: store,
    workspace: options.workspace,
    tools: options.tools,
    saveDeadlineMs: options.saveDeadlineMs,
    onEvent: options.onEvent,
  });
}
