import { compaction } from "@holdfast/compaction";
import { type PendingCall, tool } from "@holdfast/core";
import { permissions } from "@holdfast/permissions";
import { eventually, scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { chatHandler } from "../src/ai-sdk/chat-handler.js";
import { settledParts } from "../src/ai-sdk/settled-parts.js";
import type { DynamicToolPart, UiMessage } from "../src/ai-sdk/ui-message.js";
import { type Chat, openChat, plain, serve } from "./chat-client.js";
import { identify, pay, servedAgent } from "./served-agents.js";

async function history(url: string, user = "alice", id = "trip"): Promise<UiMessage[]> {
  const response = await fetch(`${url}/api/chat/${id}/messages`, {
    headers: { authorization: user },
  });
  expect(response.status).toBe(200);
  return (await response.json()) as UiMessage[];
}

/** Messages as chat and history both have them. */
function shown(messages: readonly UiMessage[]): unknown[] {
  return plain(messages).map(({ id, role, parts }) => ({
    id,
    role,
    // Whether a text is still being written is nothing that a history tells.
    parts: settledParts({ parts }).map((part) =>
      part.type === "text" ? { ...part, state: undefined } : part,
    ),
  }));
}

function toolPart(chat: Chat): DynamicToolPart {
  const part = chat.messages.at(-1)?.parts.findLast(({ type }) => type === "dynamic-tool");
  return part as DynamicToolPart;
}

const payment = { name: "pay", input: { cents: 500 } };

describe.each([5, 6, 7] as const)("a chat of version %i", (version) => {
  test("shows a turn with thinking, a tool and text, and the same again from the history", async () => {
    const agent = servedAgent(
      scriptedModel([
        { thinking: "Oslo …", toolCalls: [{ name: "weather", input: { city: "Oslo" } }] },
        "Take an umbrella.",
      ]),
    );
    const url = await serve(chatHandler({ agent, identify, version }));
    const chat = openChat(url, { version });
    await chat.sendMessage({ text: "Oslo?" });
    expect(chat.error).toBeUndefined();
    expect(chat.status).toBe("ready");
    expect(toolPart(chat)).toMatchObject({
      state: "output-available",
      toolName: "weather",
      output: { city: "Oslo", degrees: 4 },
    });
    expect(chat.messages.at(-1)?.metadata).toMatchObject({ status: "complete", pending: [] });
    expect(shown(await history(url))).toEqual(shown(chat.messages));
  });

  test("goes on in the same message after an approval", async () => {
    const agent = servedAgent(scriptedModel([{ toolCalls: [payment] }, "Paid."]));
    const url = await serve(chatHandler({ agent, identify, version }));
    const chat = openChat(url, { version });
    await chat.sendMessage({ text: "Pay." });
    const [call] = chat.messages.at(-1)?.metadata?.pending ?? [];
    expect(call).toMatchObject({ name: "pay", input: { cents: 500 }, state: "asking" });
    const id = call?.toolCallId ?? "";
    if (version === 5)
      await chat.sendMessage(undefined, { body: { approvals: { [id]: { approve: true } } } });
    else await chat.addToolApprovalResponse({ id, approved: true });
    await eventually(() => expect(toolPart(chat).state).toBe("output-available"));
    await eventually(() => expect(chat.status).toBe("ready"));
    expect(chat.messages).toHaveLength(2);
    expect(chat.messages.at(-1)?.parts.at(-1)).toMatchObject({ type: "text", text: "Paid." });
    expect(chat.messages.at(-1)?.metadata).toMatchObject({ status: "complete", pending: [] });
    expect(shown(await history(url))).toEqual(shown(chat.messages));
  });

  test("is told of an error in the product's words, and goes on with the turn when it is sent again", async () => {
    let isDown = true;
    const agent = servedAgent(
      scriptedModel(() => {
        if (isDown) throw new Error("secret of the provider");
        return "Here I am.";
      }),
    );
    const errorText = (code: string) => (code === "UNKNOWN" ? "Zu viel los." : undefined);
    const url = await serve(chatHandler({ agent, identify, version, errorText }));
    const chat = openChat(url, { version });
    await chat.sendMessage({ text: "Hello?" });
    expect(chat.status).toBe("error");
    expect(chat.error?.message).toBe("Zu viel los.");
    isDown = false;
    await chat.regenerate();
    expect(chat.status).toBe("ready");
    expect(chat.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(chat.messages.at(-1)?.parts.at(-1)).toMatchObject({ text: "Here I am." });
    expect(shown(await history(url))).toEqual(shown(chat.messages));
  });
});

test("an approval may edit the input and be remembered, through the body", async () => {
  const agent = servedAgent(
    scriptedModel([{ toolCalls: [payment] }, "Paid.", { toolCalls: [payment] }, "Paid again."]),
    {
      plugins: [permissions()],
      tools: [tool({ ...pay, needsApproval: undefined })],
    },
  );
  const url = await serve(chatHandler({ agent, identify }));
  const chat = openChat(url);
  await chat.sendMessage({ text: "Pay." });
  const { toolCallId: id } = toolPart(chat);
  const approvals = { [id]: { input: { cents: 100 }, remember: "session" } };
  await chat.addToolApprovalResponse({ id, approved: true, options: { body: { approvals } } });
  await eventually(() =>
    expect(chat.messages.at(-1)?.parts.at(-1)).toMatchObject({ text: "Paid." }),
  );
  expect(toolPart(chat)).toMatchObject({ input: { cents: 100 }, output: { paid: 100 } });
  await eventually(() => expect(chat.status).toBe("ready"));
  expect(shown(await history(url))).toEqual(shown(chat.messages));
  await chat.sendMessage({ text: "And again." });
  expect(chat.messages.at(-1)?.parts.at(-1)).toMatchObject({ text: "Paid again." });
});

test("a denial with a reason reaches the model, and the page shows it as denied", async () => {
  const model = scriptedModel([{ toolCalls: [payment] }, "Then not."]);
  const agent = servedAgent(model);
  const url = await serve(chatHandler({ agent, identify }));
  const chat = openChat(url);
  await chat.sendMessage({ text: "Pay." });
  const { toolCallId: id } = toolPart(chat);
  await chat.addToolApprovalResponse({ id, approved: false, reason: "too much" });
  await eventually(() =>
    expect(chat.messages.at(-1)?.parts.at(-1)).toMatchObject({ text: "Then not." }),
  );
  expect(toolPart(chat).state).toBe("output-denied");
  expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain("too much");
  const [, reply] = await history(url);
  expect(reply?.parts.find(({ type }) => type === "dynamic-tool")).toMatchObject({
    state: "output-denied",
    approval: { id, approved: false },
  });
});

test("a page that is loaded while an approval waits shows it, and can answer", async () => {
  const agent = servedAgent(scriptedModel([{ toolCalls: [payment] }, "Paid."]));
  const url = await serve(chatHandler({ agent, identify }));
  await openChat(url).sendMessage({ text: "Pay." });
  const chat = openChat(url, { messages: await history(url) });
  await chat.resumeStream();
  expect(chat.status).toBe("ready");
  const { toolCallId: id, state } = toolPart(chat);
  expect(state).toBe("approval-requested");
  await chat.addToolApprovalResponse({ id, approved: true });
  await eventually(() =>
    expect(chat.messages.at(-1)?.parts.at(-1)).toMatchObject({ text: "Paid." }),
  );
  expect(chat.messages).toHaveLength(2);
});

test("of two calls that ask, the one that is not answered waits on, with its reason and rules", async () => {
  const model = scriptedModel([{ toolCalls: [payment, payment] }, "Paid."]);
  const agent = servedAgent(model, { plugins: [permissions()] });
  const url = await serve(chatHandler({ agent, identify }));
  const chat = openChat(url);
  await chat.sendMessage({ text: "Pay twice" });
  const asked = chat.messages.at(-1)?.metadata?.pending ?? [];
  expect(asked).toHaveLength(2);
  const [first, second] = asked as [PendingCall, PendingCall];
  const approvals = { [first.toolCallId]: { approve: true } };
  await chat.sendMessage(undefined, { body: { approvals } });
  const { metadata } = chat.messages.at(-1) as UiMessage;
  expect(metadata).toMatchObject({ status: "waiting", pending: [second] });
  expect((await history(url)).at(-1)?.metadata).toMatchObject({ pending: [second] });
  const rest = { [second.toolCallId]: { approve: true } };
  await chat.sendMessage(undefined, { body: { approvals: rest } });
  expect(chat.messages.at(-1)?.metadata).toMatchObject({ status: "complete", pending: [] });
});

test("an answer that was given already, and one to a call that does not wait, is refused", async () => {
  const agent = servedAgent(scriptedModel([{ toolCalls: [payment] }, "Paid."]));
  const url = await serve(chatHandler({ agent, identify }));
  const chat = openChat(url);
  await chat.sendMessage({ text: "Pay." });
  const waiting = plain(chat.messages);
  const { toolCallId: id } = toolPart(chat);
  await chat.addToolApprovalResponse({ id, approved: true });
  await eventually(() => expect(chat.status).toBe("ready"));
  await eventually(() => expect(toolPart(chat).state).toBe("output-available"));
  const late = openChat(url, { messages: waiting });
  await late.addToolApprovalResponse({ id, approved: false });
  await eventually(() => expect(late.status).toBe("error"));
  expect(late.error?.message).toContain("NOTHING_WAITS");
});

test("a result from outside is taken from the page", async () => {
  const scan = tool({ name: "scan", description: "Scans.", input: z.object({}) });
  const agent = servedAgent(
    scriptedModel([{ toolCalls: [{ name: "scan", input: {} }] }, "Seen."]),
    { tools: [scan] },
  );
  const url = await serve(chatHandler({ agent, identify }));
  const chat = openChat(url);
  await chat.sendMessage({ text: "Scan." });
  const { toolCallId } = toolPart(chat);
  await chat.addToolResult({ tool: "scan", toolCallId, output: { seen: true } });
  await chat.sendMessage();
  expect(chat.error).toBeUndefined();
  expect(chat.messages.at(-1)?.parts.at(-1)).toMatchObject({ text: "Seen." });
  expect(shown(await history(url))).toEqual(shown(chat.messages));
});

test("turns that were compacted away stay in the history, marked", async () => {
  const agent = servedAgent(
    scriptedModel((_, index) => `Noted ${index}.`),
    {
      plugins: [
        compaction({
          triggerMessages: 6,
          keepMessages: 2,
          model: scriptedModel(() => "What was said."),
        }),
      ],
    },
  );
  const url = await serve(chatHandler({ agent, identify }));
  const chat = openChat(url);
  for (let turn = 0; turn < 4; turn++) await chat.sendMessage({ text: `Note ${turn}.` });
  const messages = await history(url);
  expect(shown(messages)).toEqual(shown(chat.messages));
  const marked = messages.map(({ metadata }) => metadata?.compacted ?? false);
  expect(marked[0]).toBe(true);
  expect(marked.at(-1)).toBe(false);
  expect([...marked].sort().reverse()).toEqual(marked);
  const parts = messages.flatMap(({ parts }) => parts.map(({ type }) => type));
  expect(parts).toContain("data-compaction");
});

test("the list, the title and the end of sessions", async () => {
  const agent = servedAgent(scriptedModel(() => "Noted."));
  const url = await serve(chatHandler({ agent, identify }));
  await openChat(url, { id: "a" }).sendMessage({ text: "Plan a trip." });
  await openChat(url, { id: "b" }).sendMessage({ text: "Buy bread." });
  const ask = (path: string, method = "GET", body?: object, user = "alice") =>
    fetch(`${url}/api/chat${path}`, {
      method,
      headers: { authorization: user, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
  const titles = async (user?: string) => {
    const { sessions } = (await (await ask("", "GET", undefined, user)).json()) as {
      readonly sessions: readonly { readonly id: string; readonly title: string }[];
    };
    return Object.fromEntries(sessions.map(({ id, title }) => [id, title]));
  };
  expect(await titles()).toEqual({ a: "Plan a trip.", b: "Buy bread." });
  expect(await titles("bob")).toEqual({});
  expect((await ask("/a", "PATCH", { title: "Oslo" })).status).toBe(204);
  expect((await ask("/b", "DELETE")).status).toBe(204);
  expect((await ask("/b", "DELETE")).status).toBe(404);
  expect(await titles()).toEqual({ a: "Oslo" });
  expect(await (await ask("/a")).json()).toMatchObject({ id: "a", callId: null, pending: [] });
  expect((await ask("/a", "GET", undefined, "bob")).status).toBe(404);
  expect(await (await ask("/a/messages", "GET", undefined, "bob")).json()).toEqual([]);
  expect((await ask("/a", "PATCH", { title: "" })).status).toBe(400);
  expect((await ask("/nothing/else/here")).status).toBe(404);
});

test("a long conversation is read page by page, never with half a turn", async () => {
  const agent = servedAgent(scriptedModel((_, index) => `Noted ${index}.`));
  const handler = chatHandler({ agent, identify });
  for (let turn = 0; turn < 80; turn++)
    await agent.call(`Note ${turn}.`, { userId: "alice", sessionId: "trip" });
  const pages: UiMessage[][] = [];
  let before: string | null = null;
  do {
    const query = `limit=1${before === null ? "" : `&before=${before}`}`;
    const response: Response = await handler(
      new Request(`http://localhost/api/chat/trip/messages?${query}`, {
        headers: { authorization: "alice" },
      }),
    );
    pages.unshift((await response.json()) as UiMessage[]);
    before = response.headers.get("x-before");
  } while (before !== null);
  expect(pages.length).toBeGreaterThan(1);
  for (const page of pages) expect(page[0]?.role).toBe("user");
  const texts = pages
    .flat()
    .flatMap(({ parts }) => parts.flatMap((part) => ("text" in part ? part.text : [])));
  expect(texts).toEqual(
    Array.from({ length: 80 }, (_, turn) => [`Note ${turn}.`, `Noted ${turn}.`]).flat(),
  );
});
