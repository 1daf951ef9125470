// An agent that delegates, the same in every process of a test. A message or a task is a program: a JSON array of steps, each
// a list of tool calls or a text to say. Whatever the model is told about tasks it repeats in its reply, so that the saved
// state proves it. Its tools leave lines in a file.
import { appendFileSync, existsSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { ReActAgent, textOf, tool, toolCallsOf, toolResultsOf } from "@holdfast/core";
import { permissions } from "@holdfast/permissions";
import { planning } from "@holdfast/planning";
import { subagents } from "@holdfast/subagents";
import { scriptedModel } from "@holdfast/testing";
import { z } from "zod";

/**
 * @param {import("@holdfast/core").DistributedStore} store
 * @param {import("./team.d.mts").TeamOptions} options
 */
export function team(store, options) {
  const { file, rules, agents = [{ name: "worker" }], bounds, plugins = [], ...rest } = options;
  const tasks = subagents({
    directory: false,
    agents: agents.map((agent) => ({ description: "Works.", ...agent })),
    ...bounds,
  });
  const agent = new ReActAgent({
    name: "lead",
    model: scriptedModel(programReply, { keepRequests: 1 }),
    distributedStore: store,
    tools: tools(file),
    plugins: [...(rules ? [permissions(rules)] : []), planning(), tasks, ...plugins],
    ...rest,
  });
  return { agent, tasks };
}

/** Answers without a memory of its own: does the next step of the last program in the context. */
export function programReply({ messages }) {
  const at = messages.findLastIndex((message) => programOf(message) !== null);
  if (at < 0) return "hello";
  const done = messages.slice(at).filter(({ role }) => role === "assistant").length;
  const step = programOf(messages[at])[done] ?? "done";
  const told = messages.flatMap(toldIn).join(" ");
  if (typeof step !== "string") return { text: told, toolCalls: withTaskIds(step, messages) };
  const results = messages.slice(at).flatMap(toolResultsOf);
  const text = step.replaceAll("$results", results.map(showResult).join(", "));
  return { text: `${told}${text}` };
}

function programOf(message) {
  if (message.role !== "user") return null;
  try {
    const program = JSON.parse(textOf(message));
    return Array.isArray(program) ? program : null;
  } catch {
    return null;
  }
}

/** What the hints of `subagents` say: `[told <task> <status> <result>]` or `[asks <task>]`. */
function toldIn({ content }) {
  const hints = content.filter(({ type, source }) => type === "hint" && source === "subagents");
  return hints.flatMap(({ text }) => [
    ...[
      ...text.matchAll(
        /Task (task_\w+) of [^:]*: (\w+)\.[^\n]*(?:\n<task>\n([\s\S]*?)\n<\/task>)?/g,
      ),
    ].map(([, id, status, result]) => `[told ${id} ${status} ${result ?? "-"}]`),
    ...[...text.matchAll(/^- (task_\w+), /gm)].map(([, id]) => `[asks ${id}]`),
  ]);
}

function showResult({ name, state, output }) {
  return `${name} ${state} (${output.map(({ text }) => text).join(" ")})`;
}

/** Puts the ids of the session's tasks, in the order in which they were given, in the place of `$task0`, `$task1`, … */
function withTaskIds(calls, messages) {
  const spawning = new Set(
    messages
      .flatMap(toolCallsOf)
      .filter(({ name }) => name === "agent_spawn" || name === "agent_send")
      .map(({ id }) => id),
  );
  const results = messages
    .flatMap(toolResultsOf)
    .filter(({ toolCallId }) => spawning.has(toolCallId));
  const ids = results.flatMap(({ output }) => output[0].text.match(/task_[0-9a-f]{12}/) ?? []);
  const text = JSON.stringify(calls).replaceAll(/\$task(\d+)/g, (_, index) => ids[index] ?? "none");
  return JSON.parse(text);
}

const input = z.object({ text: z.string() });
const permission = { subject: ({ text }) => ({ kind: "text", value: text }) };

/**
 * `note` writes, `look` only reads; `nap` takes as many milliseconds as its text says; `hold` ends once there is a file with
 * its text as the ending, `stay` never does, and neither counts as writing.
 */
function tools(file) {
  return ["note", "look", "nap", "hold", "stay"].map((name) =>
    tool({
      name,
      description: "Writes a line.",
      input,
      permission,
      readOnly: name !== "note",
      execute: async ({ text }, { signal }) => {
        const did = (what) => appendFileSync(file, `${what} ${text}\n`);
        did(name);
        signal?.addEventListener("abort", () => did("aborted"), { once: true });
        if (name === "nap") await delay(Number(text), undefined, { signal });
        while (name === "hold" && !existsSync(`${file}.${text}`))
          await delay(20, undefined, { signal });
        if (name === "stay") await new Promise(() => undefined);
        if (name === "hold" || name === "nap") did("rested");
        return `${name} done`;
      },
    }),
  );
}
