import { type ModelRequest, toolResultsOf } from "@holdfast/core";
import type { ScriptedReply } from "@holdfast/testing";

/** Stands in for the model of all three agents: decides by the request alone. */
export function answer({ system, messages }: ModelRequest): ScriptedReply {
  const results = messages.flatMap(toolResultsOf).flatMap(({ output }) => output);
  const result = results.map((block) => (block.type === "text" ? block.text : "")).join(" ");
  if (system.startsWith("You are a scout"))
    return result || { toolCalls: [{ name: "find_tables", input: { guests: 6 } }] };
  if (system.startsWith("You are a treasurer"))
    return result || { toolCalls: [{ name: "pay_deposit", input: { euros: 60 } }] };
  if (results.length === 0)
    return {
      toolCalls: [
        spawn({ agent: "scout", task: "Find a table for six.", timeoutSeconds: 0 }),
        spawn({ agent: "treasurer", task: "Pay the deposit for six.", label: "deposit" }),
      ],
    };
  // How a background task ended is said at the end of one request; it is not part of the conversation.
  const [hint] = messages.at(-1)?.content.filter(({ type }) => type === "hint") ?? [];
  const told = hint?.type === "hint" && /<task>\n(.+)\n<\/task>/.exec(hint.text)?.[1];
  if (told) return `The scout has found a table: ${told}.`;
  const isPaid = messages.at(-1)?.role === "tool";
  return isPaid ? "The deposit is paid, and the scout is looking." : "No news.";
}

function spawn(input: Readonly<Record<string, string | number>>) {
  return { name: "agent_spawn", input };
}
