import { randomUUID } from "node:crypto";
import {
  type AgentReply,
  ReActAgent,
  type ReActAgentOptions,
  type ToolResultBlock,
  textOf,
  toolResultsOf,
} from "@holdfast/core";
import { type ScriptedModel, scriptedModel } from "@holdfast/testing";
import { type McpServerChange, type McpToolsOptions, mcpTools } from "../../src/index.js";

/** An agent whose model does what the user says: the text is the tool calls as JSON. */
export interface ToolUser extends AsyncDisposable {
  readonly agent: ReActAgent;
  readonly model: ScriptedModel;
  readonly changes: readonly McpServerChange[];
  /** Runs one tool and gives its result. */
  use(name: string, input?: object, ctx?: { sessionId: string }): Promise<ToolResultBlock>;
  /** The tools the model was offered in its last request. */
  offered(): readonly string[];
}

export function toolUser(
  options: McpToolsOptions,
  more: Partial<ReActAgentOptions> = {},
): ToolUser {
  const changes: McpServerChange[] = [];
  const model = scriptedModel((request) => {
    const last = request.messages.at(-1);
    return last?.role === "user" ? { toolCalls: JSON.parse(textOf(last)) } : "done";
  });
  const plugin = mcpTools({
    ...options,
    onServerChange: (change) => {
      changes.push(change);
      options.onServerChange?.(change);
    },
  });
  const agent = new ReActAgent({ name: "tester", model, plugins: [plugin], ...more });
  const use: ToolUser["use"] = async (name, input = {}, ctx = { sessionId: randomUUID() }) => {
    await say(agent, [{ name, input }], ctx);
    const state = await agent.getAgentState(ctx);
    const results = (state?.context ?? []).flatMap(toolResultsOf);
    return results.at(-1) as ToolResultBlock;
  };
  return {
    agent,
    model,
    changes,
    use,
    offered: () => (model.requests.at(-1)?.tools ?? []).map(({ name }) => name),
    [Symbol.asyncDispose]: () => agent.close(),
  };
}

/** Makes the agent run these tool calls. */
export function say(
  agent: ReActAgent,
  calls: readonly { name: string; input: object }[],
  ctx: { sessionId: string },
): Promise<AgentReply> {
  return agent.call(JSON.stringify(calls), ctx);
}

/** The text of a result. */
export function said(result: ToolResultBlock): string {
  return result.output.map((block) => (block.type === "text" ? block.text : "")).join("\n");
}
