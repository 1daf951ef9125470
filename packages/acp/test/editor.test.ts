import { PassThrough } from "node:stream";
import {
  agent,
  type ClientCapabilities,
  type McpServer,
  methods,
  type Stream,
} from "@agentclientprotocol/sdk";
import { InMemoryAgentStateStore, InMemoryFilesystem, type ReActAgent } from "@holdfast/core";
import { eventually, scriptedModel, tempDirectory } from "@holdfast/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { EditorClient } from "../src/editor/editor-client.js";
import { EditorError } from "../src/editor/editor-error.js";
import { EditorFilesystem } from "../src/editor/editor-filesystem.js";
import { elicit } from "../src/editor/elicitation.js";
import { editorMcpServers } from "../src/editor/mcp-servers.js";
import { serveAcp } from "../src/serve-acp.js";
import { stdioStream } from "../src/stdio-stream.js";
import { agents, serveEditor } from "./served-editor.js";
import { choose, streamPair, TestEditor, type TestEditorOptions } from "./test-editor.js";

const namespace = { agentId: "a", userId: "ada", sessionId: "s" };
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (found: Uint8Array | null): string | null => found && new TextDecoder().decode(found);

/** An editor, and the client with which an agent asks it. */
async function editorClient(
  capabilities: ClientCapabilities,
  options: TestEditorOptions = {},
): Promise<EditorClient> {
  const [one, other] = streamPair();
  new TestEditor(other, options);
  return new EditorClient(agent({ name: "test" }).connect(one), capabilities);
}

describe("the editor's files", () => {
  const fs = { readTextFile: true, writeTextFile: true };

  test("are read and written in its buffers, and on disk where it has none", async () => {
    const buffers = new Map([["/project/open.txt", "unsaved"]]);
    const client = await editorClient({ fs }, { buffers });
    const disk = new InMemoryFilesystem();
    const parts = { client, sessionId: "s", cwd: "/project", disk, timeoutMs: 5_000 };
    const files = new EditorFilesystem(parts);
    await disk.write(namespace, "open.txt", bytes("saved"));
    await disk.write(namespace, "closed.txt", bytes("closed"));
    await disk.write(namespace, "image.png", Uint8Array.of(0xff, 0xd8));
    expect(text(await files.read(namespace, "open.txt"))).toBe("unsaved");
    expect(text(await files.read(namespace, "closed.txt"))).toBe("closed");
    expect(await files.read(namespace, "image.png")).toEqual(Uint8Array.of(0xff, 0xd8));
    expect(await files.read(namespace, "none.txt")).toBeNull();
    await files.append(namespace, "open.txt", bytes(" and more"));
    await files.write(namespace, "new.txt", bytes("new"));
    expect(buffers.get("/project/open.txt")).toBe("unsaved and more");
    expect(text(await disk.read(namespace, "open.txt"))).toBe("saved");
    expect(text(await disk.read(namespace, "new.txt"))).toBe("new");
    await expect(files.read(namespace, "../secret")).rejects.toMatchObject({
      code: "INVALID_INPUT",
    });
  });

  test("fail when the editor does not answer, with a time limit and by a signal", async () => {
    const client = await editorClient({});
    const params = { sessionId: "s", toolCall: { toolCallId: "c" }, options: [] };
    const ask = (timeoutMs: number, signal?: AbortSignal) =>
      client.request(methods.client.session.requestPermission, params, { timeoutMs, signal });
    await expect(ask(5)).rejects.toSatisfy(
      (error) => EditorError.is(error) && error.reason === "timeout",
    );
    const stop = new AbortController();
    const asked = ask(60_000, stop.signal);
    stop.abort(new Error("enough"));
    await expect(asked).rejects.toThrow("enough");
  });
});

describe("a question of a tool", () => {
  const schema = { type: "object", properties: { city: { type: "string" } } };
  const options = { timeoutMs: 5_000 };

  test("is asked as a form or as a page where the editor announces it", async () => {
    const requests: unknown[] = [];
    const client = await editorClient(
      { elicitation: { form: {}, url: {} } },
      {
        elicit: (request) => {
          requests.push(request);
          return request.mode === "url"
            ? { action: "cancel" }
            : { action: "accept", content: { city: "Oslo" } };
        },
      },
    );
    const form = await elicit(client, "s", { message: "Where?", schema }, options);
    expect(form).toEqual({ action: "accept", content: { city: "Oslo" } });
    const page = await elicit(client, "s", { message: "Sign in", url: "https://a.test/" }, options);
    expect(page).toEqual({ action: "cancel" });
    expect(requests).toMatchObject([
      { mode: "form", sessionId: "s", message: "Where?", requestedSchema: schema },
      { mode: "url", sessionId: "s", message: "Sign in", url: "https://a.test/" },
    ]);
  });

  test("is declined where it does not, or refuses it", async () => {
    const silent = await editorClient({ elicitation: { url: {} } });
    const question = { message: "Where?", schema };
    expect(await elicit(silent, "s", question, options)).toEqual({ action: "decline" });
    const refusing = await editorClient({ elicitation: { form: {} } });
    expect(await elicit(refusing, "s", question, options)).toEqual({ action: "decline" });
  });
});

test("the editor's MCP servers get names that tools can begin with; a transport that was not offered is left out", () => {
  const header = { name: "Authorization", value: "Bearer t" };
  const remote = { name: "My docs", url: "https://a.test/mcp", headers: [header] };
  const stdio = {
    name: "My docs",
    command: "docs",
    args: ["-v"],
    env: [{ name: "A", value: "1" }],
  };
  const servers: McpServer[] = [{ ...remote, type: "http" }, stdio, { ...remote, type: "sse" }];
  expect(editorMcpServers(servers, "/project")).toEqual({
    My_docs: { url: "https://a.test/mcp", headers: { Authorization: "Bearer t" } },
    "My_docs-2": { command: "docs", args: ["-v"], env: { A: "1" }, cwd: "/project" },
  });
});

test("cancelling ends a command in the editor's terminal and releases it", async () => {
  const directory = await tempDirectory();
  onTestFinished(() => directory[Symbol.asyncDispose]());
  const model = scriptedModel([
    { toolCalls: [{ name: "execute", input: { command: "exec sleep 60" } }] },
    "unreached",
  ]);
  const { editor } = await serveEditor(
    { agentFor: agents(model) },
    { capabilities: { terminal: true }, answer: () => choose("once") },
  );
  const sessionId = await editor.open(directory.path);
  const prompted = editor.prompt(sessionId, "Run it.");
  await eventually(() => editor.terminals.size === 1);
  const [terminal] = editor.terminals.values();
  await editor.cancel(sessionId);
  expect(await prompted).toBe("cancelled");
  await eventually(() => editor.terminals.size === 0);
  expect((await terminal?.ended)?.signal).toBe("SIGKILL");
});

test("an editor that reads slowly gets everything; the call goes on, and is not sent ahead of it", async () => {
  const words = Array.from({ length: 500 }, (_, index) => `${index} `).join("");
  const store = new InMemoryAgentStateStore();
  const make = agents(
    scriptedModel(() => ({ text: words, chunkSize: 1 })),
    store,
  );
  const [one, other] = streamPair();
  const chunks: unknown[] = [];
  let read = (): void => undefined;
  const isRead = new Promise<void>((resolve) => {
    read = resolve;
  });
  const slow: Stream = {
    readable: one.readable,
    writable: new WritableStream({
      async write(message) {
        if (JSON.stringify(message).includes("agent_message_chunk")) {
          chunks.push(message);
          await isRead;
        }
        const writer = one.writable.getWriter();
        await writer.write(message).finally(() => writer.releaseLock());
      },
    }),
  };
  let made: ReActAgent | undefined;
  const server = serveAcp(
    {
      name: "coder",
      agentFor(session) {
        const one = make(session);
        made = one.agent;
        return one;
      },
    },
    slow,
  );
  onTestFinished(() => server.close());
  const editor = new TestEditor(other);
  await editor.initialize();
  const sessionId = await editor.open("/project");
  const prompted = editor.prompt(sessionId, "Count.");
  await eventually(async () => (await made?.getAgentState({ sessionId }))?.context.length === 2);
  expect(chunks).toHaveLength(1);
  read();
  expect(await prompted).toBe("end_turn");
  expect(editor.text()).toBe(words);
});

test("a message that is too large ends the connection", async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const agentFor = agents(scriptedModel([]));
  const server = serveAcp(
    { name: "coder", agentFor },
    stdioStream({ input, output, maxMessageBytes: 1_000 }),
  );
  input.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "x".repeat(2_000) })}\n`);
  await server.closed;
});
