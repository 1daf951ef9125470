import type { Model, ModelChunk } from "@holdfast/core";
import { eventually } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { chatHandler } from "../src/ai-sdk/chat-handler.js";
import type { UiMessage } from "../src/ai-sdk/ui-message.js";
import type { Handler } from "../src/http/endpoint.js";
import { openChat, plain, serve } from "./chat-client.js";
import { identify, servedAgent } from "./served-agents.js";

/** Model that streams a thought, a tool call and a text in many pieces, each when `pause` lets it. */
function slowModel(pause: (signal: AbortSignal) => Promise<void>, calls = ["weather"]): Model {
  let requests = 0;
  return {
    id: "slow",
    async *stream({ signal }): AsyncGenerator<ModelChunk> {
      const name = calls[requests++];
      for (const text of ["Let ", "me ", "see."]) {
        await pause(signal);
        yield { type: name === undefined ? "text_delta" : "thinking_delta", text };
      }
      if (name !== undefined) {
        const input = name === "pay" ? { cents: 5 } : { city: "Oslo" };
        const inputDelta = JSON.stringify(input);
        yield { type: "tool_call_delta", id: "c", name, inputDelta };
        await pause(signal);
        yield { type: "tool_call", id: "c", name, input };
      }
      yield { type: "finish", reason: "stop", usage: { inputTokens: 1, outputTokens: 1 } };
    },
  };
}

const briefly = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Lets two pieces through, and the others when `opened`. */
function afterTwo(opened: Promise<void>): (signal: AbortSignal) => Promise<void> {
  let pieces = 0;
  return (signal) => {
    if (pieces++ < 2) return briefly();
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
    return Promise.race([opened, aborted]);
  };
}

/** A gate that is opened once. */
function openable(): { readonly opened: Promise<void>; open(): void } {
  let open: () => void = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

function request(path: string, init: RequestInit = {}): Request {
  return new Request(`http://localhost/api/chat${path}`, {
    ...init,
    headers: { authorization: "alice", "content-type": "application/json" },
  });
}

function post(handler: Handler, sessionId: string, body: object): Promise<Response> {
  return handler(request("", { method: "POST", body: JSON.stringify({ id: sessionId, ...body }) }));
}

const hello = (id: string) => ({
  message: { id, role: "user", parts: [{ type: "text", text: "Oslo?" }] },
});

async function history(handler: Handler, id: string) {
  const response = await handler(request(`/${id}/messages`));
  const callId = response.headers.get("x-call-id");
  return { callId, messages: (await response.json()) as UiMessage[] };
}

/** Reads so many pieces of a response and goes away; returns false when it had fewer. */
async function readPieces(response: Response, count: number): Promise<boolean> {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  for (let read = 0; read < count; read++) if ((await reader.read()).done) return false;
  await reader.cancel();
  return true;
}

/** Loads a page, as after a reload: first the history, then the rest of what runs. */
async function reload(handler: Handler, url: string, id: string, version: 5 | 6 | 7) {
  const { callId, messages } = await history(handler, id);
  const chat = openChat(url, {
    id,
    version,
    messages,
    ...(callId !== null && { resumeAt: `/stream?callId=${callId}` }),
  });
  if (callId !== null) await chat.resumeStream();
  expect(chat.error).toBeUndefined();
  return chat;
}

function shown(messages: readonly UiMessage[]): unknown {
  return plain(messages).map(({ metadata: { createdAt: _, ...metadata } = {}, ...message }) => ({
    ...message,
    metadata,
    // The answer of a person is not part of a stream.
    parts: message.parts.map((part) => ({ ...part, approval: undefined })),
  }));
}

describe.each([5, 6, 7] as const)("version %i", (version) => {
  test("a connection cut at any piece of a reply, and a page loaded then, ends with the same messages", async () => {
    for (let pieces = 0; ; pieces++) {
      const id = `cut-${pieces}`;
      // Saved after each step, so that the log has some of the reply while it is being given.
      const agent = servedAgent(slowModel(briefly), { persistence: "step" });
      const handler = chatHandler({ agent, identify, version, rateLimit: false });
      const url = await serve(handler);
      const wasCut = await readPieces(await post(handler, id, hello("m")), pieces);
      await eventually(async () => expect(await agent.getAgentState("alice", id)).not.toBeNull());
      const chat = await reload(handler, url, id, version);
      await eventually(async () => expect((await history(handler, id)).callId).toBeNull());
      const { messages } = await history(handler, id);
      expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
      expect(shown(chat.messages)).toEqual(shown(messages));
      if (!wasCut) {
        expect(pieces).toBeGreaterThan(10);
        break;
      }
    }
  });

  test("so it does when the reply goes on after an approval", async () => {
    for (let pieces = 0; ; pieces++) {
      const id = `cut-${pieces}`;
      const agent = servedAgent(slowModel(briefly, ["pay"]), { persistence: "step" });
      const handler = chatHandler({ agent, identify, version, rateLimit: false });
      const url = await serve(handler);
      await readPieces(await post(handler, id, hello("m")), 1_000);
      const [call] = await agent.pending("alice", id);
      const approvals = { [call?.toolCallId ?? ""]: { approve: true } };
      const wasCut = await readPieces(await post(handler, id, { approvals }), pieces);
      const chat = await reload(handler, url, id, version);
      await eventually(async () => expect((await history(handler, id)).callId).toBeNull());
      const { messages } = await history(handler, id);
      expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
      expect(shown(chat.messages)).toEqual(shown(messages));
      if (!wasCut) {
        expect(pieces).toBeGreaterThan(4);
        break;
      }
    }
  });
});

test("a second page watches the same reply, and a stop from there ends both", async () => {
  const agent = servedAgent(slowModel(afterTwo(new Promise(() => undefined))));
  const handler = chatHandler({ agent, identify });
  const url = await serve(handler);
  const first = openChat(url);
  const sent = first.sendMessage({ text: "Oslo?" });
  await eventually(async () => expect((await history(handler, "trip")).callId).not.toBeNull());
  const { messages } = await history(handler, "trip");
  expect(messages.map(({ role }) => role)).toEqual(["user"]);
  const second = openChat(url, { messages });
  const watched = second.resumeStream();
  await eventually(() => expect(second.status).toBe("streaming"));
  const stopped = await handler(request("/trip/stop", { method: "POST" }));
  expect(await stopped.json()).toEqual({ result: "stopped" });
  await Promise.all([sent, watched]);
  expect(first.messages.at(-1)?.metadata?.status).toBe("interrupted");
  expect(plain(second.messages.at(-1))).toEqual(plain(first.messages.at(-1)));
});

test("words that steer the agent while it works stand where they came in", async () => {
  const gate = openable();
  const agent = servedAgent(slowModel(afterTwo(gate.opened)));
  const handler = chatHandler({ agent, identify });
  const url = await serve(handler);
  const chat = openChat(url);
  const sent = chat.sendMessage({ text: "Oslo?" });
  await eventually(() => expect(chat.status).toBe("streaming"));
  const init = { method: "POST", body: JSON.stringify({ text: "By train." }) };
  const answer = await handler(request("/trip/steer", init));
  const steered = (await answer.json()) as { readonly messageId: string };
  expect(steered).toEqual({ result: "steered", messageId: expect.any(String) });
  gate.open();
  await sent;
  const data = { messageId: steered.messageId, text: "By train." };
  expect(chat.messages.at(-1)?.parts).toContainEqual({ type: "data-steered", data });
  await eventually(async () => {
    const { messages } = await history(handler, "trip");
    return expect(shown(messages)).toEqual(shown(chat.messages));
  });
});

test("a page that goes away does not stop the reply", async () => {
  const gate = openable();
  const agent = servedAgent(slowModel(afterTwo(gate.opened)));
  const handler = chatHandler({ agent, identify });
  expect(await readPieces(await post(handler, "trip", hello("m")), 3)).toBe(true);
  // Long enough for an interrupt to arrive, if there were one.
  for (let turn = 0; turn < 50; turn++) await briefly();
  gate.open();
  await eventually(async () => {
    const { messages } = await history(handler, "trip");
    return messages.at(-1)?.metadata?.status === "complete";
  });
});

test("the history leaves out what the stream of a running call has, also what is saved of it", async () => {
  const second = openable();
  const third = openable();
  let requests = 0;
  const gates = [briefly, briefly, () => second.opened, () => third.opened];
  const { stream } = slowModel(async () => gates[requests]?.(), ["weather", "pay"]);
  const model: Model = {
    id: "counted",
    stream: (sent) => {
      requests++;
      return stream(sent);
    },
  };
  const agent = servedAgent(model, { persistence: "step" });
  const handler = chatHandler({ agent, identify });
  const shapes = async () =>
    (await history(handler, "trip")).messages.map(({ role, parts }) => `${role} ${parts.length}`);
  const isLogged = async (role: string, count: number) => {
    const { records } = await agent.history("alice", "trip");
    return records.filter(({ message }) => message?.role === role).length === count;
  };
  await post(handler, "trip", hello("m"));
  await eventually(async () => requests === 2 && (await isLogged("tool", 1)));
  expect(await shapes()).toEqual(["user 1"]);
  second.open();
  await eventually(async () => (await agent.pending("alice", "trip")).length > 0);
  await eventually(async () => (await history(handler, "trip")).callId === null);
  expect(await shapes()).toEqual(["user 1", "assistant 6"]);
  const [call] = await agent.pending("alice", "trip");
  await post(handler, "trip", { approvals: { [call?.toolCallId ?? ""]: { approve: true } } });
  await eventually(async () => requests === 3 && (await isLogged("tool", 2)));
  expect(await shapes()).toEqual(["user 1"]);
  third.open();
  await eventually(async () => (await history(handler, "trip")).callId === null);
  expect(await shapes()).toEqual(["user 1", "assistant 8"]);
});

test("nothing to resume is 204, also for an agent that keeps no events", async () => {
  for (const options of [{}, { eventFeed: undefined }]) {
    const handler = chatHandler({ agent: servedAgent(slowModel(briefly), options), identify });
    expect((await handler(request("/trip/stream"))).status).toBe(204);
  }
});

test("a store that is away when words come in does not cut the reply off", async () => {
  const gate = openable();
  const agent = servedAgent(slowModel(afterTwo(gate.opened)));
  const seen: unknown[] = [];
  const handler = chatHandler({ agent, identify, onError: (error) => seen.push(error) });
  const chat = openChat(await serve(handler));
  const sent = chat.sendMessage({ text: "Oslo?" });
  await eventually(() => expect(chat.status).toBe("streaming"));
  const init = { method: "POST", body: JSON.stringify({ text: "By train." }) };
  await handler(request("/trip/steer", init));
  agent.getAgentState = () => Promise.reject(new Error("away"));
  gate.open();
  await sent;
  expect(seen).toEqual([new Error("away")]);
  expect(chat.messages.at(-1)?.metadata?.status).toBe("complete");
  expect(chat.messages.at(-1)?.parts.at(-1)).toMatchObject({ type: "text", text: "Let me see." });
});
