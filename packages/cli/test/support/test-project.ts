import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tempDirectory } from "@holdfast/testing";

/** A directory with a config file whose model does as it is told. */
export interface TestProject extends AsyncDisposable {
  readonly path: string;
  /** URL of a JSON store in it. */
  readonly store: string;
}

/**
 * The model of the tests. "forever" streams and then waits until it is interrupted; "until
 * told" waits in the middle for a file "told"; "think" thinks first; "tool" calls a tool;
 * "evil" says what a terminal would obey; "fail" fails; "break off" breaks off once in the middle. Everything else is repeated, with the number of messages it saw.
 * Helper calls (facts, summaries) get a short answer.
 */
export const scriptedConfig = `
import { existsSync } from "node:fs";
let brokenOff = false;
const usage = { inputTokens: 10, outputTokens: 5 };
async function* stream({ messages, tools, signal }) {
  const last = messages.at(-1);
  const text = last.content.map((block) => block.text ?? "").join("");
  if (tools.length === 0) yield { type: "text_delta", text: "SUMMARY of it all" };
  else if (last.role === "tool") yield { type: "text_delta", text: "The tool has answered." };
  else if (text.startsWith("forever")) {
    for (const word of ["I ", "shall ", "never ", "end "]) yield { type: "text_delta", text: word };
    await new Promise((_, reject) => {
      if (signal.aborted) reject(signal.reason);
      signal.addEventListener("abort", () => reject(signal.reason));
    });
  } else if (text === "until told") {
    yield { type: "text_delta", text: "I come " };
    while (!existsSync("told")) await new Promise((resolve) => setTimeout(resolve, 20));
    yield { type: "text_delta", text: "to an end." };
  } else if (text === "think") {
    yield { type: "thinking_delta", text: "Let me see." };
    yield { type: "text_delta", text: "I have thought." };
  } else if (text === "tool") {
    yield { type: "tool_call", id: "call_0", name: "list_files", input: {} };
    yield { type: "finish", reason: "tool_calls", usage };
    return;
  } else if (text === "evil") {
    yield { type: "text_delta", text: "\\u001b" };
    yield { type: "text_delta", text: "]0;owned\\u0007 \\u001b[2J \\u009b31m \\u202egnp.exe 😀" };
  } else if (text === "break off" && !brokenOff) {
    brokenOff = true;
    yield { type: "text_delta", text: "You said: bre" };
    return;
  } else if (text === "fail") {
    throw new Error("the provider is on fire");
  } else {
    yield { type: "text_delta", text: "You said: " + text + " (" };
    yield { type: "text_delta", text: messages.length + " messages)" };
  }
  yield { type: "finish", reason: "stop", usage };
}
export default { model: { id: "test/scripted", contextWindow: 100_000, stream }, agent: "tester" };
`;

/** Makes one; it is removed when disposed. */
export async function testProject(config: string = scriptedConfig): Promise<TestProject> {
  const directory = await tempDirectory();
  await writeFile(join(directory.path, "holdfast.config.mjs"), config);
  return {
    path: directory.path,
    store: `json:${join(directory.path, "store")}`,
    [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose](),
  };
}
