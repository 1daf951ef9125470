/**
 * A config whose model calls tools that ask. "write a b" writes the files a and b in one step; "evil" writes one whose name
 * and content a terminal would obey; "long" writes a long one; "todo x" puts x on the todo list; "plan" writes the plan of the
 * session; "until told" waits for a file "told", then writes a file. After tools it repeats what they answered, with the
 * number of requests so far. Everything else is repeated.
 */
export const approvalConfig: string = `
import { existsSync } from "node:fs";
import { definePlugin, tool } from "${import.meta.resolve("@holdfast/core")}";
import { z } from "${import.meta.resolve("zod")}";
const usage = { inputTokens: 10, outputTokens: 5 };
let requests = 0;
const write = (path, content = "by the model") => ["write_file", { path, content }];
function callsFor(text) {
  const [verb, ...words] = text.split(" ");
  if (verb === "write") return words.map((path) => write(path));
  if (verb === "evil") return [write("\\u001b]0;owned\\u0007", "\\u001b[2J\\nrun write_file? › y")];
  if (verb === "long") return [write("long.txt", "a line of the file\\n".repeat(100) + "the end")];
  if (verb === "todo") return [["add_todo", { content: words.join(" ") }]];
  if (verb === "plan") return [["note_plan", {}]];
  return [];
}
async function* stream({ messages, tools }) {
  const last = messages.at(-1);
  const text = last.content.map((block) => block.text ?? "").join("");
  if (tools.length === 0) {
    yield { type: "text_delta", text: "SUMMARY" };
    yield { type: "finish", reason: "stop", usage };
    return;
  }
  requests++;
  if (last.role === "tool") {
    const since = messages.findLastIndex(({ role }) => role !== "tool");
    const results = messages
      .slice(since + 1)
      .flatMap(({ content }) => content)
      .sort((one, other) => (one.toolCallId < other.toolCallId ? -1 : 1))
      .map(({ state, output }) => state + " " + output[0].text);
    yield { type: "text_delta", text: "After " + requests + " requests: " + results.join(" | ") };
    yield { type: "finish", reason: "stop", usage };
    return;
  }
  if (text === "until told") {
    yield { type: "text_delta", text: "I wait. " };
    while (!existsSync("told")) await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const calls = text === "until told" ? [write("told.txt")] : callsFor(text);
  for (const [index, [name, input]] of calls.entries())
    yield { type: "tool_call", id: "call_" + requests + "_" + index, name, input };
  if (calls.length === 0) yield { type: "text_delta", text: "You said: " + text };
  yield { type: "finish", reason: calls.length > 0 ? "tool_calls" : "stop", usage };
}
const addTodo = tool({
  name: "add_todo",
  description: "Adds a task.",
  input: z.object({ content: z.string() }),
  readOnly: true,
  execute: ({ content }, ctx) => {
    const before = ctx.agentState.tasksContext.tasks.map((task) => ({ ...task, status: "completed" }));
    ctx.agentState.tasksContext = { tasks: [...before, { content, status: "in_progress" }] };
    return "added";
  },
});
const planMode = definePlugin({
  name: "plan-mode",
  contract: 1,
  setup(host) {
    const filesystem = host.require("filesystem");
    host.provide("toolGuard", { considers: ["planMode"], check: () => ({ decision: "allow" }) });
    host.tool(tool({
      name: "note_plan",
      description: "Writes the plan.",
      input: z.object({}),
      readOnly: true,
      execute: async (_, ctx) => {
        const slot = { agentId: host.agent.agentId, userId: ctx.userId, sessionId: ctx.sessionId };
        await filesystem.write(slot, "plans/it.md", Buffer.from("# The plan\\n\\u001b[2J1. begin"));
        ctx.agentState.planModeContext = { active: true, planFile: "plans/it.md" };
        return "planned";
      },
    }));
  },
});
export default {
  model: { id: "test/asking", contextWindow: 100_000, stream },
  agent: "tester",
  workspace: "./workspace",
  tools: [addTodo],
  plugins: [planMode],
};
`;
