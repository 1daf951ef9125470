import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { methods, ndJsonStream } from "@agentclientprotocol/sdk";
import { tempDirectory } from "@holdfast/testing";
import { expect, onTestFinished, test } from "vitest";
import { choose, TestEditor, type TestEditorOptions } from "../../../acp/test/test-editor.js";
import { CommandProcess } from "../support/process.js";

/**
 * Model that calls the tool it is told to, with the JSON behind its name, and repeats what tools answered. "until told" waits for
 * a file "told" in the middle of its reply.
 */
const config = `
import { existsSync } from "node:fs";
const usage = { inputTokens: 10, outputTokens: 5 };
console.log("a line that is no message");
async function* stream({ messages, tools }) {
  process.stdout.write("another one");
  const last = messages.at(-1);
  if (last.role === "tool") {
    for (const { state, output } of last.content)
      yield { type: "text_delta", text: state + ": " + output[0].text };
  } else {
    const text = last.content.map((block) => block.text ?? "").join("");
    const [, name, input] = /^(\\w+) (\\{.*)$/s.exec(text) ?? [];
    if (name !== undefined) {
      yield { type: "tool_call", id: "call_0", name, input: JSON.parse(input) };
      yield { type: "finish", reason: "tool_calls", usage };
      return;
    }
    if (text === "until told") {
      yield { type: "text_delta", text: "I come " };
      while (!existsSync("told")) await new Promise((resolve) => setTimeout(resolve, 20));
      yield { type: "text_delta", text: "to an end." };
    } else yield { type: "text_delta", text: "You said: " + text };
  }
  yield { type: "finish", reason: "stop", usage };
}
export default { model: { id: "test/told", contextWindow: 100_000, stream }, agent: "coder" };
`;

/** A project with a config file, in a directory of its own. */
async function project(): Promise<string> {
  const directory = await tempDirectory();
  onTestFinished(() => directory[Symbol.asyncDispose]());
  await writeFile(join(directory.path, "holdfast.config.mjs"), config);
  return directory.path;
}

/** Starts the command as an editor does. */
async function start(
  cwd: string,
  options: TestEditorOptions = {},
): Promise<{ readonly editor: TestEditor; readonly command: CommandProcess }> {
  const args = ["acp", "--store", `json:${join(cwd, ".holdfast/store")}`, "--user", "ada"];
  const command = new CommandProcess(args, {
    cwd,
    env: { HOLDFAST_STATE_HOME: join(cwd, ".holdfast/home") },
  });
  onTestFinished(() => command[Symbol.asyncDispose]());
  const { stdin, stdout } = command.child;
  const bytes = new TransformStream<string, Uint8Array>({
    transform: (text, controller) => controller.enqueue(Buffer.from(text)),
  });
  const text = Readable.toWeb(stdout) as ReadableStream<string>;
  const stream = ndJsonStream(
    Writable.toWeb(stdin) as WritableStream<Uint8Array>,
    text.pipeThrough(bytes),
  );
  const editor = new TestEditor(stream, options);
  await editor.initialize();
  return { editor, command };
}

test("the command works in an editor: its buffers, its terminal, its MCP servers, approvals and cancelling", async () => {
  const cwd = await project();
  const open = join(cwd, "open.txt");
  await writeFile(open, "saved\n");
  await writeFile(join(cwd, "closed.txt"), "closed\n");
  const buffers = new Map([[open, "unsaved\n"]]);
  const answers = ["once", "once", "reject", "session"];
  const { editor, command } = await start(cwd, {
    buffers,
    capabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true },
    answer: () => choose(answers.shift() ?? "once", "not now"),
  });
  const tiny = fileURLToPath(
    new URL("../../../mcp/test/fixtures/tiny-server.mjs", import.meta.url),
  );
  const { sessionId, modes } = await editor.agent.request(methods.agent.session.new, {
    cwd,
    mcpServers: [
      {
        name: "Tiny server",
        command: process.execPath,
        args: [tiny, join(cwd, ".holdfast", "journal"), "{}"],
        env: [],
      },
    ],
  });
  expect(modes?.availableModes.map(({ id }) => id)).toContain("plan");
  const call = (name: string, input: object) =>
    editor.prompt(sessionId, `${name} ${JSON.stringify(input)}`);

  // An unsaved change counts; searching reads the disk.
  expect(await call("read_file", { path: "open.txt" })).toBe("end_turn");
  expect(editor.text()).toContain("unsaved");
  await call("read_file", { path: "closed.txt" });
  expect(editor.text()).toContain("closed");
  const before = [...editor.reads];
  await call("grep_files", { pattern: "saved" });
  expect(editor.reads).toEqual(before);
  expect(editor.text()).toContain("open.txt:1: saved");

  // An edit is shown, approved, and made in the buffer.
  await call("edit_file", { path: "open.txt", old_string: "unsaved", new_string: "edited" });
  expect(editor.asked[0]?.toolCall).toMatchObject({
    kind: "edit",
    locations: [{ path: open }],
    content: expect.arrayContaining([
      { type: "diff", path: open, oldText: "unsaved", newText: "edited" },
    ]),
  });
  expect(buffers.get(open)).toBe("edited\n");
  expect(await readFile(open, "utf8")).toBe("saved\n");

  // A file that the editor does not have is written to the disk, and the agent's own files are not in the project.
  await call("write_file", { path: "new.txt", content: "new" });
  expect(await readFile(join(cwd, "new.txt"), "utf8")).toBe("new");

  await call("execute", { command: "echo not this" });
  expect(editor.text()).toContain("not now");
  expect(editor.terminals.size).toBe(0);
  await call("execute", { command: "pwd" });
  expect(editor.text()).toContain("Exit code 0.");
  expect(editor.text()).toContain(cwd);
  const shown = editor.updates("tool_call_update").flatMap(({ content }) => content ?? []);
  expect(shown).toContainEqual({ type: "terminal", terminalId: "terminal-1" });
  expect(editor.terminals.size).toBe(0);
  await call("execute", { command: "pwd" });
  expect(editor.asked).toHaveLength(4);

  await call("Tiny_server_echo", { text: "from the server" });
  expect(editor.text()).toContain("from the server");

  const prompted = editor.prompt(sessionId, "until told");
  await editor.says("I come");
  await editor.cancel(sessionId);
  expect(await prompted).toBe("cancelled");

  command.child.stdin.end();
  expect(await command.ended).toBe(0);
  expect(command.stderr).toContain("a line that is no message");
  expect(command.stderr).toContain("another one");
});

test("a killed agent goes on in another process, and a question outlives the editor", async () => {
  const cwd = await project();
  const first = await start(cwd);
  const sessionId = await first.editor.open(cwd);
  await first.editor.prompt(sessionId, "Hello");
  first.editor.prompt(sessionId, "until told").catch(() => undefined);
  await first.editor.says("I come");
  first.command.child.kill("SIGKILL");
  await first.command.ended;
  await writeFile(join(cwd, "told"), "");

  const second = await start(cwd);
  const load = { sessionId, cwd, mcpServers: [] };
  await second.editor.agent.request(methods.agent.session.load, load);
  expect(second.editor.text()).toContain("You said: Hello");
  expect(second.editor.text("user_message_chunk")).toBe("Hellountil told");
  await second.editor.says("I come to an end.");
  const write = { path: "asked.txt", content: "yes" };
  second.editor.prompt(sessionId, `write_file ${JSON.stringify(write)}`).catch(() => undefined);
  await second.editor.isAsked();
  second.command.child.stdin.end();
  expect(await second.command.ended).toBe(0);

  const third = await start(cwd, { answer: () => choose("once") });
  await third.editor.agent.request(methods.agent.session.load, load);
  await third.editor.says("success: Wrote 3 bytes");
  expect(await readFile(join(cwd, "asked.txt"), "utf8")).toBe("yes");
  const { sessions } = await third.editor.agent.request(methods.agent.session.list, { cwd });
  expect(sessions).toMatchObject([{ sessionId, title: "Hello" }]);
});
