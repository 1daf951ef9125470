import * as client1 from "@ag-ui/client";
import type { AgentEvent, Message, PendingCall } from "@holdfast/core";
import { scaled, scriptedModel } from "@holdfast/testing";
import * as client0 from "ag-ui-client-0";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AgUiEncoder } from "../src/ag-ui/ag-ui-encoder.js";
import { agUiHandler } from "../src/ag-ui/ag-ui-handler.js";
import { runInput } from "../src/ag-ui/run-input.js";
import { dataFrame, eventStream } from "../src/http/event-stream.js";
import { outputText } from "../src/run/tool-output.js";
import { serve } from "./chat-client.js";
import { decisions, playSession, scripts } from "./played-session.js";
import { identify, servedAgent } from "./served-agents.js";

/** The client of AG-UI, as much of it as the tests use. */
interface Client {
  readonly HttpAgent: new (options: object) => HttpAgent;
}

interface HttpAgent {
  messages: readonly ClientMessage[];
  state: unknown;
  addMessage(message: object): void;
  runAgent(
    input: object,
    subscriber?: {
      onRunFinishedEvent?(params: { event: { outcome?: Outcome } }): void;
      onRunErrorEvent?(params: { event: { message: string; code?: string } }): void;
      onCustomEvent?(params: { event: { name: string; value: unknown } }): void;
    },
  ): Promise<unknown>;
}

/** Message as the client has it. */
interface ClientMessage {
  readonly id: string;
  readonly role: string;
  readonly content?: unknown;
  readonly toolCalls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
  readonly toolCallId?: string;
}

/** Message as the comparison has it: tool calls as `id name input`. */
interface ShownMessage {
  readonly id: string;
  readonly role: string;
  readonly content: string;
  readonly calls: readonly string[];
}

/** What the client shows, without what was taken back. */
function shown(messages: readonly ClientMessage[], gone: ReadonlySet<string>): ShownMessage[] {
  return messages
    .filter(({ id, toolCallId = id }) => !gone.has(id) && !gone.has(toolCallId))
    .filter(({ role }) => ["assistant", "reasoning", "tool"].includes(role))
    .map(({ id, role, content, toolCalls = [] }) => {
      const calls = toolCalls
        .filter((call) => !gone.has(call.id))
        .map((call) => `${call.id} ${call.function.name} ${call.function.arguments}`);
      return { id, role, content: String(content ?? ""), calls };
    })
    .filter(({ content, calls }) => content !== "" || calls.length > 0);
}

/** The messages that a message of the log is told as: thoughts, words and results have one each. */
function toldAs({ id, role, content }: Message): ShownMessage[] {
  const told: { id: string; role: string; content: string; calls: string[] }[] = [];
  const named = (name: string) => told.find((one) => one.id === name);
  let blocks = 0;
  const add = (name: string, role: string, text: string, calls: string[] = []) =>
    told.push({ id: name, role, content: text, calls });
  for (const block of content) {
    if (block.type === "thinking" && block.text !== "")
      add(`${id}.${++blocks}`, "reasoning", block.text);
    if (block.type === "text" && block.text !== "" && role === "assistant") {
      blocks++;
      const own = named(id);
      if (own && own.content === "") own.content = block.text;
      else add(own ? `${id}.${blocks}` : id, "assistant", block.text);
    }
    if (block.type === "tool_call") {
      const call = `${block.id} ${block.name} ${JSON.stringify(block.input)}`;
      const own = named(id);
      if (own) own.calls.push(call);
      else add(id, "assistant", "", [call]);
    }
    if (block.type === "tool_result")
      add(`${block.toolCallId}.result`, "tool", outputText(block.output));
  }
  return told;
}

interface Outcome {
  readonly type: string;
  readonly interrupts?: readonly { readonly id: string; readonly metadata?: unknown }[];
}

const versions = [
  ["1.0.0", client1 as unknown as Client],
  ["0.0.59", client0 as unknown as Client],
] as const;

function openAgent({ HttpAgent }: Client, url: string): HttpAgent {
  return new HttpAgent({ url, threadId: "trip", headers: { authorization: "alice" } });
}

/** Runs once, and returns how it ended. */
async function run(agent: HttpAgent, input: object = {}): Promise<Outcome | undefined> {
  let outcome: Outcome | undefined;
  await agent.runAgent(input, {
    onRunFinishedEvent: ({ event }) => {
      outcome = event.outcome;
    },
  });
  return outcome;
}

describe.each(versions)("a client of version %s", (_, client) => {
  test("shows a turn with thinking, a tool and text", async () => {
    const agent = servedAgent(
      scriptedModel([
        { thinking: "Oslo …", toolCalls: [{ name: "weather", input: { city: "Oslo" } }] },
        "Take an umbrella.",
      ]),
    );
    const url = await serve(agUiHandler({ agent, identify, path: "/" }));
    const page = openAgent(client, url);
    page.addMessage({ id: "m", role: "user", content: "Oslo?" });
    expect(await run(page)).toMatchObject({ type: "success" });
    expect(page.messages.filter(({ role }) => role !== "reasoning")).toMatchObject([
      { role: "user", content: "Oslo?" },
      {
        role: "assistant",
        toolCalls: [{ function: { name: "weather", arguments: '{"city":"Oslo"}' } }],
      },
      { role: "tool", content: '{"city":"Oslo","degrees":4}' },
      { role: "assistant", content: "Take an umbrella." },
    ]);
  });

  test("is asked by an interrupt, and answers with edited arguments", async () => {
    const agent = servedAgent(
      scriptedModel([{ toolCalls: [{ name: "pay", input: { cents: 500 } }] }, "Paid."]),
    );
    const url = await serve(agUiHandler({ agent, identify, path: "/" }));
    const page = openAgent(client, url);
    page.addMessage({ id: "m", role: "user", content: "Pay." });
    const outcome = await run(page);
    expect(outcome).toMatchObject({
      type: "interrupt",
      interrupts: [{ reason: "tool_call", metadata: { name: "pay", input: { cents: 500 } } }],
    });
    const payload = { approved: true, editedArgs: { cents: 100 } };
    const interruptId = outcome?.interrupts?.[0]?.id;
    const resume = [{ interruptId, status: "resolved", payload }];
    expect(await run(page, { resume })).toMatchObject({ type: "success" });
    const [, , result, reply] = page.messages;
    expect(result).toMatchObject({ role: "tool", content: '{"paid":100}' });
    expect(reply).toMatchObject({ role: "assistant", content: "Paid." });
  });

  test("is told of a failure in the product's words", async () => {
    const agent = servedAgent(
      scriptedModel(() => {
        throw new Error("secret of the provider");
      }),
    );
    const errorText = () => "Zu viel los.";
    const url = await serve(agUiHandler({ agent, identify, path: "/", errorText }));
    const page = openAgent(client, url);
    page.addMessage({ id: "m", role: "user", content: "Hello?" });
    const errors: string[] = [];
    await page
      .runAgent({}, { onRunErrorEvent: ({ event }) => void errors.push(event.message) })
      .catch(() => undefined);
    expect(errors).toEqual(["Zu viel los."]);
  });

  test("accepts the events of every session, and ends with the messages of the log", async () => {
    let events: readonly AgentEvent[] = [];
    let pending: readonly PendingCall[] = [];
    const url = await serve(async (request) => {
      const encoder = new AgUiEncoder({ ...runInput(await request.json()), pending });
      async function* frames() {
        for (const event of events) yield encoder.encode(event).map(dataFrame).join("");
      }
      return eventStream(frames(), { heartbeatMs: 1_000 });
    });
    await fc.assert(
      fc.asyncProperty(scripts, decisions, async (script, answers) => {
        const played = await playSession(script, answers, 2);
        const page = openAgent(client, url);
        const discarded = new Set<string>();
        for (const call of played.calls) {
          ({ events } = call);
          pending = call.pendingBefore;
          const failed = events.some(({ type }) => type === "error");
          // The client insists on answers to what the run before asked.
          const resume = call.pendingBefore
            .filter(({ state }) => state === "asking")
            .map(({ toolCallId }) => ({
              interruptId: toolCallId,
              status: "resolved",
              payload: {},
            }));
          const errors: unknown[] = [];
          await page
            .runAgent(resume.length > 0 ? { resume } : {}, {
              onRunErrorEvent: ({ event }) => void errors.push(event.code),
              onCustomEvent: ({ event: { name, value } }) => {
                if (name !== "holdfast.discarded") return;
                const { messageIds, toolCallIds: gone } = value as Record<string, string[]>;
                for (const id of [...(messageIds ?? []), ...(gone ?? [])]) discarded.add(id);
              },
            })
            .catch((error: unknown) => {
              if (!failed) throw error;
            });
          expect(errors).toHaveLength(failed ? 1 : 0);
          // After a failure the client asks for the same answers again, and takes nothing else.
          if (failed && resume.length > 0) return;
        }
        const logged = played.records.flatMap(({ message }) => (message ? toldAs(message) : []));
        const seen = shown(page.messages, discarded);
        const said = (messages: readonly ShownMessage[]) =>
          messages.filter(({ role, content }) => role === "assistant" && content !== "");
        expect(said(seen)).toEqual(said(logged));
        // The client puts results next to their calls, before thoughts that came in between.
        const sorted = (messages: readonly ShownMessage[]) =>
          messages.toSorted((a, b) => a.id.localeCompare(b.id));
        expect(sorted(seen)).toEqual(sorted(logged));
      }),
      { numRuns: scaled(40, 300) },
    );
  });
});

test("a message without words is refused, and empty texts beside others are left out", async () => {
  const agent = servedAgent(scriptedModel(() => "Noted."));
  const handler = agUiHandler({ agent, identify });
  const post = (runId: string, ...texts: string[]) => {
    const content = texts.map((text) => ({ type: "text", text }));
    return handler(
      new Request("http://localhost/api/ag-ui", {
        method: "POST",
        headers: { authorization: "alice", "content-type": "application/json" },
        body: JSON.stringify({ threadId: "t", runId, messages: [{ role: "user", content }] }),
      }),
    );
  };
  expect((await post("r1", "")).status).toBe(400);
  await (await post("r2", "", "Hello.")).text();
  const [words] = (await agent.getAgentState("alice", "t"))?.context ?? [];
  expect(words?.content).toEqual([{ type: "text", text: "Hello." }]);
});

test("answers must be complete, and the same answers once more get the same reply", async () => {
  const toolCalls = [500, 700].map((cents) => ({ name: "pay", input: { cents } }));
  const model = scriptedModel([{ toolCalls }, "Paid."]);
  const agent = servedAgent(model);
  const handler = agUiHandler({ agent, identify });
  const post = async (body: object) => {
    const response = await handler(
      new Request("http://localhost/api/ag-ui", {
        method: "POST",
        headers: { authorization: "alice", "content-type": "application/json" },
        body: JSON.stringify({ threadId: "trip", runId: "r", messages: [], ...body }),
      }),
    );
    return { status: response.status, text: await response.text() };
  };
  await post({ messages: [{ id: "m", role: "user", content: "Pay." }] });
  const pending = await agent.pending("alice", "trip");
  const resume = pending.map(({ toolCallId }) => ({
    interruptId: toolCallId,
    status: "resolved",
    payload: { approved: true },
  }));
  expect((await post({ resume: resume.slice(1) })).status).toBe(409);
  for (let count = 0; count < 2; count++) {
    const { status, text } = await post({ resume });
    expect(status).toBe(200);
    const deltas = [...text.matchAll(/"delta":"([^"]*)"/g)].map(([, delta]) => delta);
    expect(deltas.join("")).toBe("Paid.");
  }
  expect(model.requests).toHaveLength(2);
});
