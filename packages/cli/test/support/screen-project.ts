import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ScreenTerminal } from "./screen.js";
import { type TestProject, testProject } from "./test-project.js";

/**
 * A config whose model shows what the screen can draw. "markdown" says a bit of everything, "count" calls a tool with an output
 * of 30 lines, "edit" edits notes.txt, "write x" writes a file, "until told" waits for a file "told" and "tool until told" lets a
 * tool wait for it, "travel" lets a tool ask where to, "flaky" fails once and is asked again. After a tool the model repeats the last message of the person, and
 * everything else is repeated as well.
 */
const screenConfig: string = `
import { existsSync } from "node:fs";
import { ModelError, suspend, tool } from "${import.meta.resolve("@holdfast/core")}";
import { z } from "${import.meta.resolve("zod")}";
const usage = { inputTokens: 5000, outputTokens: 500 };
const markdown = [
  "# A heading\\n\\nSome **bold** words and a [link](https://example.org/x).\\n\\n",
  "- one\\n- two\\n  - nested\\n\\n| name | 数 |\\n| --- | --- |\\n| 日本語 | 1 |\\n| emoji 👍 | 2 |\\n\\n",
  "\`\`\`ts\\nconst answer: number = 42; // why\\n\`\`\`\\n\\nThe end.",
];
let failed = false;
let calls = 0;
const told = async (signal) => {
  while (!existsSync("told")) {
    signal?.throwIfAborted();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};
function callFor(text) {
  if (text === "count" || text === "travel") return [text, {}];
  if (text === "tool until told") return ["wait", {}];
  if (text === "edit")
    return ["edit_file", { path: "notes.txt", old_string: "same\\nold line\\n", new_string: "same\\nnew line\\n" }];
  const [, path] = /^write (\\S+)$/u.exec(text) ?? [];
  return path && ["write_file", { path, content: "by the model" }];
}
async function* stream({ messages, tools, signal }) {
  const said = messages.filter(({ role }) => role === "user").at(-1);
  const text = (said?.content ?? []).map((block) => block.text ?? "").join("");
  const isAfterTool = messages.at(-1).role === "tool";
  if (tools.length === 0) yield { type: "text_delta", text: "SUMMARY" };
  else if (!isAfterTool && callFor(text)) {
    const [name, input] = callFor(text);
    yield { type: "tool_call", id: "call_" + ++calls + "_" + messages.length, name, input };
    yield { type: "finish", reason: "tool_calls", usage };
    return;
  } else if (isAfterTool) {
    const result = messages.at(-1).content.map(({ state, output }) => state + " " + (output?.[0]?.text ?? "").slice(0, 60));
    yield { type: "text_delta", text: "After the tool: " + result.join() };
  } else if (text === "markdown") for (const piece of markdown) yield { type: "text_delta", text: piece };
  else if (text === "until told") {
    yield { type: "thinking_delta", text: "Let me see.\\nAnd again." };
    yield { type: "text_delta", text: "I come " };
    await told(signal);
    yield { type: "text_delta", text: "to an end." };
  } else if (text === "flaky" && !failed) {
    failed = true;
    yield { type: "text_delta", text: "half a rep" };
    throw new ModelError("the line is noisy", { retryable: true });
  } else yield { type: "text_delta", text: "You said: " + text };
  yield { type: "finish", reason: "stop", usage };
}
const count = tool({
  name: "count",
  description: "Counts.",
  input: z.object({}),
  readOnly: true,
  execute: () => Array.from({ length: 30 }, (_, index) => "line " + (index + 1)).join("\\n"),
});
const travel = tool({
  name: "travel",
  description: "Travels.",
  input: z.object({}),
  readOnly: true,
  execute: (_, { answers: [answer] }) =>
    answer
      ? answer.action + " " + JSON.stringify(answer.content ?? null)
      : suspend("the server wants to know", {
          question: {
            message: "Where to?",
            schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
          },
        }),
});
const wait = tool({
  name: "wait",
  description: "Waits.",
  input: z.object({}),
  readOnly: true,
  execute: async (_, ctx) => {
    ctx.progress("half way");
    await told(ctx.signal);
    return "waited";
  },
});
export default {
  model: { id: "test/screen", contextWindow: 100_000, stream },
  agent: "tester",
  workspace: "./workspace",
  tools: [count, travel, wait],
  price: ({ inputTokens, outputTokens }) => (inputTokens * 3 + outputTokens * 15) / 1_000_000,
};
`;

/** Makes a project whose model draws on the screen, with a file notes.txt in Ada's workspace. */
export async function screenProject(): Promise<TestProject> {
  const project = await testProject(screenConfig);
  const files = join(project.path, "workspace", "users", "ada");
  await mkdir(files, { recursive: true });
  await writeFile(join(files, "notes.txt"), "same\nold line\nrest\n");
  return project;
}

type ScreenOptions = Partial<ConstructorParameters<typeof ScreenTerminal>[1]> & {
  readonly flags?: readonly string[];
};

/** Opens a chat of Ada's on a screen, and waits for its input. */
export async function screenIn(
  project: TestProject,
  options: ScreenOptions = {},
): Promise<ScreenTerminal> {
  const screen = openScreen(project, options);
  await screen.shows(/^─+\n›/mu);
  return screen;
}

/** Opens a chat of Ada's on a screen: one that has something to ask may do so before it shows its input. */
export function openScreen(
  { path, store }: TestProject,
  { flags = [], ...rest }: ScreenOptions = {},
): ScreenTerminal {
  const args = ["chat", "--store", store, "--user", "ada", ...flags];
  return new ScreenTerminal(args, { cwd: path, ...rest });
}
