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
    const run = async (runId: string, more: object): Promise<unknown> =>
      (await events(await post({ threadId: "trip", runId, ...more }))).at(-1);
    const messages = [{ id: "m-1", role: "user", content: "Book." }];
    const first = await run("r-1", { messages });
    const { outcome } = first as { outcome: { interrupts: Part[] } };
    const [interrupt] = outcome.interrupts;
    expect(interrupt).toMatchObject({
      reason: "input_required",
      message: "How many nights?",
      responseSchema: schema,
    });
    const interruptId = interrupt?.["id"];
    const resume = [{ interruptId, status: "resolved", payload: { nights: 4 } }];
    await run("r-2", { messages, resume });
    const end = await run("r-3", { messages, resume: [{ interruptId, status: "cancelled" }] });
    expect(end).toMatchObject({ type: "RUN_FINISHED", outcome: { type: "success" } });
    await agent.close();
  });
});
