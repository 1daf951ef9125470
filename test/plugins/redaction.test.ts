import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { compaction } from "@holdfast/compaction";
import {
  type AgentReply,
  definePlugin,
  listGuard,
  type Message,
  type ModelRequest,
  type Plugin,
  suspend,
  textOf,
  tool,
  userMessage,
} from "@holdfast/core";
import { toolResultEviction } from "@holdfast/eviction";
import { HarnessAgent } from "@holdfast/harness";
import { memoryFlush } from "@holdfast/memory-flush";
import { otel } from "@holdfast/otel";
import { JsonFileAgentStateStore } from "@holdfast/store-json";
import {
  fakePluginHost,
  type ScriptedReply,
  scriptedModel,
  tempDirectory,
} from "@holdfast/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { redaction } from "../../examples/third-party-plugin/src/redaction.js";
import { door } from "../engine/door.js";
import { Observatory } from "../otel/span-tree.js";

const email = "ada@example.org";
const address = "12 Analytical Lane, London";
const contact = `${email}, ${address}`;
const patterns = {
  "e-mail": /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g,
  address: /\d+ [A-Z]\w+ (?:Lane|Street), [A-Z]\w+/g,
};
const ada = { userId: "ada", sessionId: "s-1" };

const empty = z.object({});
const tools = [
  tool({
    name: "look_up",
    description: "Finds a customer.",
    input: empty,
    execute: () => `${"A customer. ".repeat(400)}Contact: ${contact}.${" Pays.".repeat(400)}`,
  }),
  tool({
    name: "fail",
    description: "Fails.",
    input: empty,
    execute: () => {
      throw new Error(`nobody is called ${contact}`);
    },
  }),
  tool({ name: "ask_desk", description: "Asks.", input: empty, execute: () => suspend() }),
  tool({
    name: "note",
    description: "Notes.",
    input: z.object({ text: z.string() }),
    execute: ({ text }) => `Noted: ${text}`,
  }),
];
const guard = definePlugin({
  name: "guard",
  contract: 1,
  setup: (host) => host.provide("toolGuard", listGuard({ ask: ["note"] })),
});

/** Lines of a request that hold contacts, or what a redaction left of them: a model that repeats all it was told. */
function contactsIn({ messages }: ModelRequest): string {
  const lines = JSON.stringify(messages).split(/\\+n|","|(?<=[.!?]) /);
  return lines.filter((line) => /@|Lane|\[(?:e-mail|address)\]/.test(line)).join("\n- ");
}

/** Everything a program could find of a conversation about contacts, by the place where it is. */
interface Traces {
  readonly [place: string]: string;
}

/** Has a conversation in which contacts come in every way there is, and collects what is left of them. */
async function traces(plugins: readonly Plugin[]): Promise<Traces> {
  const directory = await tempDirectory();
  onTestFinished(() => directory.cleanup());
  const observatory = new Observatory();
  const { tracerProvider, meterProvider } = observatory;
  const stalled = door();
  const script: (ScriptedReply | "stall")[] = [];
  const model = scriptedModel(async (request) => {
    const next = script.shift() ?? `I read: ${contactsIn(request)}`;
    if (next !== "stall") return next;
    stalled.open();
    return new Promise<ScriptedReply>((_, reject) => {
      request.signal.addEventListener("abort", () => reject(request.signal.reason));
    });
  });
  const helper = scriptedModel((request) => `- ${contactsIn(request)}`);
  const events: unknown[] = [];
  const agent = HarnessAgent.create({
    name: "clerk",
    model,
    tools,
    workspace: join(directory.path, "workspace"),
    stateStore: new JsonFileAgentStateStore({ root: join(directory.path, "state") }),
    onEvent: (event) => void events.push(event),
    plugins: [
      otel({ tracerProvider, meterProvider, content: true, maxContentChars: 1_000_000 }),
      compaction({ triggerMessages: 14, keepMessages: 4, model: helper }),
      toolResultEviction({ maxResultChars: 1_000 }),
      memoryFlush({ model: helper, flushTrigger: "always", finishOnClose: true }),
      guard,
      ...plugins,
    ],
  });
  const calling = (name: string, input = {}): ScriptedReply => ({ toolCalls: [{ name, input }] });
  const pendingOf = (reply: AgentReply) =>
    "pending" in reply ? (reply.pending[0]?.toolCallId ?? "") : "";
  const files = (part: RegExp) => filesIn(directory.path, part);

  await agent.call(`Reach me at ${contact}.`, { ...ada, callId: "c-1" });
  script.push(calling("look_up"), calling("fail"));
  await agent.call("Who is the customer?", ada);
  script.push(calling("ask_desk"));
  const suspended = pendingOf(await agent.call("Ask the desk.", ada));
  await agent.call({ results: [{ toolCallId: suspended, output: { contact } }] }, ada);
  for (const answer of [
    { approve: true, input: { text: contact } },
    { approve: false, reason: `Not about ${contact}.` },
  ]) {
    script.push(calling("note", { text: "x" }));
    const toolCallId = pendingOf(await agent.call("Note it.", ada));
    await agent.call({ confirm: [{ toolCallId, ...answer }] }, ada);
  }
  await agent.updateAgentState(ada, (state) => {
    state.contextMutable().push(userMessage(`By the way: ${contact}.`));
  });
  script.push("stall");
  const running = agent.call(`Write to ${contact}.`, ada);
  await stalled.opened;
  const whileRunning = files(/state/);
  await agent.interrupt(ada, `Stop! It is ${contact}.`);
  await running;
  await agent.compact(ada, { force: true });
  script.push(calling("session_search", { query: "Reach me at" }));
  const found = await agent.call("What did I say?", { ...ada, sessionId: "s-2" });
  const state = await agent.getAgentState({ ...ada, sessionId: "s-2" });
  await agent.close();
  return {
    requests: JSON.stringify([model.requests, helper.requests].map((all) => all.map(said))),
    state: files(/state/),
    "state while a call runs": whileRunning,
    log: files(/\.jsonl$/),
    "evicted results": files(/large_tool_results/),
    memory: files(/memory/i),
    "everything on disk": files(/./),
    search: JSON.stringify([found.text, state?.context]),
    events: JSON.stringify(events),
    spans: await observatory.exported(),
  };
}

function said({ system, messages }: Pick<ModelRequest, "system" | "messages">): unknown {
  return [system, messages];
}

/** Paths and contents of the files under a directory whose path has `part` in it. */
function filesIn(directory: string, part: RegExp): string {
  const found = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length))
    .filter((path) => part.test(path));
  return found.map((path) => `${path}\n${readFileSync(join(directory, path), "utf8")}`).join("\n");
}

describe("contacts that users, tools and people bring into a conversation", () => {
  test("are in every place without the plugin", async () => {
    for (const [place, text] of Object.entries(await traces([]))) {
      expect(text.includes(email), place).toBe(true);
      expect(text.includes(address), place).toBe(true);
    }
  });

  test("are in none with it, and the words in their place are", async () => {
    for (const [place, text] of Object.entries(await traces([redaction({ patterns })]))) {
      expect(text.includes(email), place).toBe(false);
      expect(text.includes("Analytical"), place).toBe(false);
      expect(text, place).toContain("[e-mail]");
      expect(text, place).toContain("[address]");
    }
  });
});

test("files keep their bytes, and words beside them do not", async () => {
  const phone = "4711081547110815";
  const file = {
    type: "data",
    mediaType: "image/png",
    source: { kind: "base64", data: `${phone}AAAA` },
    name: `${phone}.png`,
  } as const;
  const host = fakePluginHost().install(redaction({ patterns: { phone: /\d{16}/g } }));
  const incoming = host.middleware[0]?.onIncoming;
  const redacted = { ...file, name: "[phone].png" };
  const link = { ...file, source: { kind: "url", url: `https://a.test/${phone}` } } as const;
  const message = userMessage([{ type: "text", text: `Call ${phone}.` }, file, link]);
  const result: Message = {
    ...message,
    role: "tool",
    content: [
      {
        ...{ type: "tool_result", toolCallId: "t", name: "draw", state: "success", output: [file] },
        metadata: { rows: 3, numbers: [Number(phone)] },
      },
    ],
  };
  const step = {
    ...host.step(),
    callId: "c",
    origin: "input",
    call: undefined,
    tool: undefined,
  } as const;
  expect((await incoming?.(message, step))?.content).toEqual([
    { type: "text", text: "Call [phone]." },
    redacted,
    { ...redacted, source: { kind: "url", url: "https://a.test/[phone]" } },
  ]);
  expect((await incoming?.(result, step))?.content).toMatchObject([
    { output: [redacted], metadata: { rows: 3, numbers: ["[phone]"] } },
  ]);
});

const example = "../../examples/third-party-plugin/src";

test.each([`${example}/redaction.ts`, "redact-replies.ts", `${example}/token-budget.ts`])(
  "%s is the one that the documentation shows",
  (file) => {
    const read = (path: string) =>
      readFileSync(fileURLToPath(new URL(path, import.meta.url)), "utf8");
    expect(read("../../docs/middleware.md").includes(read(file))).toBe(true);
  },
);

test("a hook of it sees each of the ways in which contacts came", async () => {
  const origins = new Set<string>();
  const seen = definePlugin({
    name: "seen",
    contract: 1,
    setup: (host) =>
      host.use({
        name: "seen",
        after: "redaction",
        onIncoming(message, { origin }) {
          if (textOf(message).includes(email)) throw new Error("not redacted");
          origins.add(origin);
          return message;
        },
      }),
  });
  await traces([seen, redaction({ patterns })]);
  expect([...origins].sort()).toEqual([
    "confirm",
    "input",
    "interrupt",
    "results",
    "tool_result",
    "update",
  ]);
});
