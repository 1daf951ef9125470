import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestProject, testProject } from "./test-project.js";

/**
 * A config whose model does what the last message says, for the agent and for its subagents alike:
 *
 * - `ask <agent> [label]: <task>` gives a task to a subagent, `start …` in the background, `briefly …` until a moment is over.
 * - `read <file>` and `write <file>` call tools; ` & ` joins calls of one step.
 * - `until <file>, …` first waits for that file in the working directory; `fail` fails.
 *
 * Everything else is repeated. After tools the model repeats what they answered, and when it was told of a background task it
 * says so.
 */
const teamConfig: string = `
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
const usage = { inputTokens: 10, outputTokens: 5 };
const waits = { start: 0, briefly: 0.05 };
function callFor(text) {
  const [, verb, agent, label, task] = /^(ask|start|briefly) (\\S+?)(?: ([^:]+))?: (.*)$/su.exec(text) ?? [];
  if (verb) return ["agent_spawn", { agent, task, label, timeoutSeconds: waits[verb] }];
  const [, tool, path] = /^(read|write) (\\S+)$/u.exec(text) ?? [];
  if (tool === "read") return ["read_file", { path }];
  return tool && ["write_file", { path, content: "by a subagent" }];
}
async function* stream({ messages, tools, signal }) {
  const said = messages.filter(({ content }) => content.some(({ type }) => type !== "hint"));
  const last = said.at(-1);
  const hints = messages.flatMap(({ content }) => content).filter(({ type }) => type === "hint");
  if (tools.length === 0) yield { type: "text_delta", text: "SUMMARY" };
  else if (last.role === "tool") {
    const since = said.findLastIndex(({ role }) => role !== "tool");
    const results = said.slice(since + 1).flatMap(({ content }) => content);
    const texts = results.map(({ state, output }) => state + " " + output[0].text);
    yield { type: "text_delta", text: "Tools said: " + texts.join(" | ") };
  } else {
    let text = last.content.map((block) => (block.type === "text" ? block.text : "")).join("");
    const [, file, rest] = /^until (\\S+), (.*)$/su.exec(text) ?? [];
    if (file) {
      while (!existsSync(file)) {
        signal.throwIfAborted();
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      text = rest;
    }
    if (text === "fail") throw new Error("the provider is on fire");
    const calls = text.startsWith("ask ") || text.startsWith("start ") || text.startsWith("briefly ") || /^(read|write) /u.test(text)
      ? text.split(" & ").map(callFor)
      : [];
    for (const [name, input] of calls)
      yield { type: "tool_call", id: "call_" + randomUUID(), name, input: JSON.parse(JSON.stringify(input)) };
    const told = hints.some(({ text }) => text.includes("have ended")) ? "I was told. " : "";
    if (calls.length === 0) yield { type: "text_delta", text: told + "You said: " + text };
    yield { type: "finish", reason: calls.length > 0 ? "tool_calls" : "stop", usage };
    return;
  }
  yield { type: "finish", reason: "stop", usage };
}
export default {
  model: { id: "test/team", contextWindow: 100_000, stream },
  agent: "lead",
  workspace: "./workspace",
};
`;

const definition = (description: string): string =>
  `---\ndescription: ${description}\n---\nYou do what you are told.\n`;

/** Makes a project whose agent has the subagents `researcher` and `checker`, as files of its workspace. */
export async function teamProject(config: string = teamConfig): Promise<TestProject> {
  const project = await testProject(config);
  const directory = join(project.path, "workspace", "subagents");
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, "researcher.md"), definition("Finds facts."));
  await writeFile(join(directory, "checker.md"), definition("Checks what others found."));
  return project;
}
