import { join } from "node:path";
import {
  type AgentReply,
  type Confirmation,
  definePlugin,
  InMemoryAgentStateStore,
  type Plugin,
  type Tool,
  textOf,
  tool,
  toolResultsOf,
} from "@holdfast/core";
import { HarnessAgent } from "@holdfast/harness";
import { type PermissionsOptions, permissions } from "@holdfast/permissions";
import { type ScriptedReply, type ScriptedToolCall, tempDirectory } from "@holdfast/testing";
import { LocalFilesystemSpec } from "@holdfast/workspace";
import { onTestFinished } from "vitest";
import { z } from "zod";
import { pairedModel } from "../engine/valid-pairing.js";

/** Session that the calls of a desk are made in. */
export const session = { userId: "ann", sessionId: "s" };

/** Decision about a tool call, as its caller sees it. */
export type Outcome = "runs" | "asks" | "denied";

/** Tool that is neither read-only nor has a subject. */
const send = tool({
  name: "send",
  description: "Sends a message.",
  input: z.object({}),
  execute: () => "sent",
});

/** Agent with file tools and a shell on a real directory, under `permissions`. */
export interface Desk {
  readonly agent: HarnessAgent;
  /** Directory of the files of {@link session}'s user. */
  readonly files: string;
  /** Lets the model make these calls at once, and tells what became of each. Earlier calls that still ask are denied. */
  use(...calls: readonly ScriptedToolCall[]): Promise<readonly Outcome[]>;
  /** As `use`, but returns the reply. */
  ask(...calls: readonly ScriptedToolCall[]): Promise<AgentReply>;
  /** Lets the model make a call that asks, and approves it. */
  approve(call: ScriptedToolCall, remember?: Confirmation["remember"]): Promise<AgentReply>;
}

/** Options of {@link newDesk}, beside those of `permissions`. */
export interface DeskOptions {
  readonly tools?: readonly Tool[];
  readonly plugins?: readonly Plugin[];
}

/** Makes a desk in a directory of the running test's own. */
export async function newDesk(
  rules: PermissionsOptions = {},
  { tools = [send], plugins = [] }: DeskOptions = {},
): Promise<Desk> {
  const directory = await tempDirectory();
  onTestFinished(directory.cleanup);
  const files = join(directory.path, "workspace", "users", session.userId);
  const agent = HarnessAgent.create({
    name: "desk",
    model: obedientModel(),
    workspace: join(directory.path, "workspace"),
    stateStore: new InMemoryAgentStateStore(),
    filesystem: new LocalFilesystemSpec({ shell: true }),
    tools,
    plugins: [permissions({ root: files, ...rules }), ...plugins],
  });
  onTestFinished(() => agent.close());
  const ask = (...calls: readonly ScriptedToolCall[]) =>
    agent.call(JSON.stringify(calls), { ...session, onPending: "deny" });
  const approve: Desk["approve"] = async (call, remember) => {
    const reply = await ask(call);
    if (!("pending" in reply)) throw new Error(`not asking but ${reply.reason}`);
    const confirm = reply.pending.map(({ toolCallId }) => ({
      ...{ toolCallId, approve: true, remember },
    }));
    return agent.call({ confirm }, session);
  };
  return {
    agent,
    files,
    ask,
    approve,
    use: async (...calls) => outcomes(agent, await ask(...calls), calls),
  };
}

/** A plugin with tools that come while the agent runs, as those of an MCP server do. */
export function toolsOf(source: () => readonly Tool[]): Plugin {
  return definePlugin({
    name: "source",
    contract: 1,
    setup: (host) => host.toolSource(source),
  });
}

/** A model that makes the calls which the last message lists as JSON. */
function obedientModel() {
  return pairedModel(({ messages }): ScriptedReply => {
    const last = messages.at(-1);
    return last?.role === "user" ? { toolCalls: JSON.parse(textOf(last)) } : "done";
  });
}

async function outcomes(
  agent: HarnessAgent,
  reply: AgentReply,
  calls: readonly ScriptedToolCall[],
): Promise<readonly Outcome[]> {
  const state = await agent.getAgentState(session);
  const message = state?.context.findLast(({ content }) =>
    content.some(({ type }) => type === "tool_call"),
  );
  const ids = (message?.content ?? []).flatMap((block) =>
    block.type === "tool_call" ? block.id : [],
  );
  if (ids.length !== calls.length) throw new Error(`the model made ${ids.length} calls`);
  const asking = "pending" in reply ? reply.pending.map(({ toolCallId }) => toolCallId) : [];
  const results = state?.context.flatMap(toolResultsOf) ?? [];
  return ids.map((id) => {
    if (asking.includes(id)) return "asks";
    return results.find(({ toolCallId }) => toolCallId === id)?.state === "denied"
      ? "denied"
      : "runs";
  });
}
