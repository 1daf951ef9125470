import {
  definePlugin,
  type Filesystem,
  type Offloader,
  type Plugin,
  ReActAgent,
  toolResultsOf,
} from "@holdfast/core";
import { type ScriptedReply, scriptedModel } from "@holdfast/testing";

export const ada = { userId: "ada", sessionId: "one" };
export const eve = { userId: "eve", sessionId: "one" };

/** An agent whose model calls the tools it is asked for, one turn per list, then says "done". */
export function agentWith(plugins: readonly Plugin[], options: object = {}) {
  const turns: { name: string; input: object }[][] = [];
  const model = scriptedModel(({ messages }): ScriptedReply => {
    if (messages.at(-1)?.role === "tool") return "done";
    const calls = turns.shift() ?? [];
    return calls.length === 0 ? "done" : { toolCalls: calls as never };
  });
  const agent = new ReActAgent({ name: "agent", model, plugins, ...options });
  const use = async (
    whose: { userId: string | null; sessionId: string },
    name: string,
    input: object,
  ) => {
    turns.push([{ name, input }]);
    await agent.call("go", whose);
    const state = await agent.getAgentState(whose);
    const results = (state?.context ?? []).flatMap(toolResultsOf);
    const { output = [], state: outcome } = results.at(-1) ?? {};
    const text = output.map((part) => (part.type === "text" ? part.text : "(data)")).join("\n");
    return { text, outcome };
  };
  return { agent, model, use };
}

/** A plugin that lets a test at the ports of an agent. */
export function probe() {
  const found: {
    offloader?: () => Offloader | undefined;
    filesystem?: () => Filesystem | undefined;
  } = {};
  const plugin = definePlugin({
    name: "probe",
    contract: 1,
    setup(host) {
      found.offloader = host.optional("offloader");
      found.filesystem = host.optional("filesystem");
    },
  });
  return { found, plugin };
}
