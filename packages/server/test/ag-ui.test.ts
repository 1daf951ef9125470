import * as client1 from "@ag-ui/client";
import type { AgentEvent } from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import * as client0 from "ag-ui-client-0";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AgUiEncoder } from "../src/ag-ui/ag-ui-encoder.js";
import { agUiHandler } from "../src/ag-ui/ag-ui-handler.js";
import { runInput } from "../src/ag-ui/run-input.js";
import { dataFrame, eventStream } from "../src/http/event-stream.js";
import { serve } from "./chat-client.js";
import { decisions, playSession, scripts } from "./played-session.js";
import { identify, servedAgent } from "./served-agents.js";

/** The client of AG-UI, as much of it as the tests use. */
interface Client {
  readonly HttpAgent: new (options: object) => HttpAgent;
}

interface HttpAgent {
  messages: readonly { role: string; content?: unknown; toolCalls?: unknown[] }[];
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

  test("accepts the events of every session, and ends with what was said", async () => {
    let events: readonly AgentEvent[] = [];
    let toolCallIds: readonly string[] = [];
    const url = await serve(async (request) => {
      const encoder = new AgUiEncoder({ ...runInput(await request.json()), toolCallIds });
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
          toolCallIds = call.pendingBefore.map(({ toolCallId }) => toolCallId);
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
                const { messageIds } = value as { messageIds: string[] };
                for (const id of messageIds) discarded.add(id);
              },
            })
            .catch((error: unknown) => {
              if (!failed) throw error;
            });
          expect(errors).toHaveLength(failed ? 1 : 0);
          // After a failure the client asks for the same answers again, and takes nothing else.
          if (failed && resume.length > 0) return;
        }
        const said = page.messages
          .filter((message) => !discarded.has((message as unknown as { id: string }).id))
          .flatMap(({ role, content }) => (role === "assistant" && content ? [content] : []));
        const logged = played.records.flatMap(({ message }) =>
          message?.role === "assistant"
            ? message.content.flatMap((block) =>
                block.type === "text" && block.text !== "" ? [block.text] : [],
              )
            : [],
        );
        expect(said).toEqual(logged);
      }),
      { numRuns: 100 },
    );
  });
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
