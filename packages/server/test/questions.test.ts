import { ReActAgent, suspend, tool } from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { agUiHandler } from "../src/ag-ui/index.js";
import { chatHandler } from "../src/ai-sdk/index.js";

const schema = { type: "object", properties: { nights: { type: "integer", minimum: 1 } } };

/** An agent whose tool asks the same question twice, and tells what it was answered. */
function askingAgent(): ReActAgent {
  const booking = tool({
    name: "booking",
    description: "Books a room.",
    input: z.object({}),
    execute: (_, { answers }) =>
      answers.length < 2
        ? suspend("asks", { question: { message: "How many nights?", schema } })
        : answers.map(({ action, content }) => [action, content?.["nights"] ?? null]),
  });
  const model = scriptedModel([{ toolCalls: [{ name: "booking", input: {} }] }, "Booked."]);
  return new ReActAgent({ name: "clerk", model, tools: [booking] });
}

type Part = Record<string, unknown>;

/** The events of a stream, as JSON. */
async function events(response: Response): Promise<Record<string, unknown>[]> {
  const text = await response.text();
  expect(response.status, text).toBe(200);
  return [...text.matchAll(/^data: (\{.*\})$/gm)].map(([, json]) => JSON.parse(json as string));
}

function poster(handler: (request: Request) => Promise<Response>, path: string) {
  return (body: object) =>
    handler(
      new Request(`http://clerk.example${path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    );
}

describe("a question of a tool", () => {
  test("is in the metadata of the chat, and answered through the body, each number once", async () => {
    const agent = askingAgent();
    const identify = () => ({ userId: "alice" });
    const post = poster(chatHandler({ agent, identify }), "/api/chat");
    const words = { id: "m-1", role: "user", parts: [{ type: "text", text: "Book." }] };
    const pendingIn = (chunks: readonly Record<string, unknown>[]) => {
      const { messageMetadata } = chunks.at(-1) as { messageMetadata: { pending: Part[] } };
      return messageMetadata.pending;
    };
    const [asked] = pendingIn(await events(await post({ id: "trip", message: words })));
    expect(asked).toMatchObject({
      questionNumber: 1,
      question: { message: "How many nights?", schema },
    });
    const id = String(asked?.["toolCallId"]);
    const message = { id: "reply", role: "assistant", parts: [] };
    const answer = (number: number, nights: number) =>
      post({
        id: "trip",
        message,
        answers: { [id]: { action: "accept", content: { nights }, number } },
      });
    const [again] = pendingIn(await events(await answer(1, 2)));
    expect(again?.["questionNumber"]).toBe(2);
    // Sent again, it is not taken for an answer to the second question.
    expect((await answer(1, 2)).status).toBe(409);
    const last = await events(await answer(2, 2));
    expect(last.find(({ type }) => type === "tool-output-available")).toMatchObject({
      output: [
        ["accept", 2],
        ["accept", 2],
      ],
    });
    await agent.close();
  });

  test("ends a run of AG-UI with an interrupt that has its schema, and resumes it", async () => {
    const agent = askingAgent();
    const post = poster(
      agUiHandler({ agent, identify: () => ({ userId: "alice" }), path: "/" }),
      "/",
    );
    type Outcome = { readonly type: string; readonly interrupts: readonly Part[] };
    const run = async (runId: string, resume: Part[] = []): Promise<Outcome> => {
      const messages = [{ id: "m-1", role: "user", content: "Book." }];
      const sent = await events(await post({ threadId: "trip", runId, messages, resume }));
      return sent.at(-1)?.["outcome"] as Outcome;
    };
    const [first] = (await run("r-1")).interrupts;
    expect(first).toMatchObject({
      reason: "input_required",
      message: "How many nights?",
      responseSchema: schema,
    });
    const filled = { status: "resolved", payload: { nights: 4 } };
    const [second] = (await run("r-2", [{ interruptId: first?.["id"], ...filled }])).interrupts;
    expect(second?.["id"]).not.toBe(first?.["id"]);
    expect(second?.["toolCallId"]).toBe(first?.["toolCallId"]);
    // The same answer once more gets the same reply, also when nothing waits any longer.
    const last = [{ interruptId: second?.["id"], status: "cancelled" }];
    for (const runId of ["r-3", "r-3", "r-4"])
      expect(await run(runId, last)).toEqual({ type: "success" });
    await agent.close();
  });

  test("may be named by its call alone in AG-UI", async () => {
    const agent = askingAgent();
    const identify = () => ({ userId: "alice" });
    const post = poster(agUiHandler({ agent, identify, path: "/" }), "/");
    const messages = [{ id: "m-1", role: "user", content: "Book." }];
    await events(await post({ threadId: "trip", runId: "r-1", messages }));
    const [{ toolCallId: interruptId = "" } = {}] = await agent.pending("alice", "trip");
    const resume = [{ interruptId, status: "resolved", payload: { nights: 4 } }];
    await events(await post({ threadId: "trip", runId: "r-2", resume }));
    expect(await agent.pending("alice", "trip")).toMatchObject([{ questionNumber: 2 }]);
    await agent.close();
  });
});
