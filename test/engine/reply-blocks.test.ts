import {
  type AgentEvent,
  InMemoryAgentStateStore,
  type Message,
  ModelError,
  ReActAgent,
} from "@holdfast/core";
import { withBlobs } from "@holdfast/core/store-kit";
import { describe, expect, test } from "vitest";
import { chunkModel, finish, type ScriptedStream, text } from "./chunk-model.js";

const answer = async (stream: ScriptedStream): Promise<Message> =>
  (await new ReActAgent({ name: "a", model: chunkModel([stream]) }).call("hi")).message;

describe("the blocks of a reply", () => {
  test("are what the model names them, in the order they began, however their pieces are mixed", async () => {
    const { content } = await answer([
      { type: "thinking_delta", text: "first ", block: "r0", providerMetadata: { p: { n: 0 } } },
      { type: "thinking_delta", text: "second", block: "r1" },
      { type: "thinking_delta", text: "thought", block: "r0" },
      { type: "text_delta", text: "Yes", block: "t0" },
      { type: "text_delta", text: "No", block: "t1" },
      { type: "text_delta", text: ".", block: "t0", providerMetadata: { p: { item: "a" } } },
      // Providers sign a thought when it is over, and that may be after the next one began.
      { type: "thinking_delta", text: "", block: "r1", providerMetadata: { p: { sign: "s1" } } },
      finish(),
    ]);
    expect(content).toEqual([
      { type: "thinking", text: "first thought", providerMetadata: { p: { n: 0 } } },
      { type: "thinking", text: "second", providerMetadata: { p: { sign: "s1" } } },
      { type: "text", text: "Yes.", providerMetadata: { p: { item: "a" } } },
      { type: "text", text: "No" },
    ]);
  });

  test("without names are one for all pieces of a kind in a row", async () => {
    const { content } = await answer([
      { type: "thinking_delta", text: "a" },
      { type: "thinking_delta", text: "b", providerMetadata: { sign: "1" } },
      ...[text("c"), text(""), text("d")],
      { type: "thinking_delta", text: "e" },
      text("f"),
      finish(),
    ]);
    expect(content).toEqual([
      { type: "thinking", text: "ab", providerMetadata: { sign: "1" } },
      { type: "text", text: "cd" },
      { type: "thinking", text: "e" },
      { type: "text", text: "f" },
    ]);
  });

  test("keep a thought that has nothing but metadata, and leave out what has nothing at all", async () => {
    const { content } = await answer([
      { type: "thinking_delta", text: "", block: "0", providerMetadata: { redacted: "xyz" } },
      { type: "thinking_delta", text: "", block: "1" },
      text("ok"),
      finish(),
    ]);
    expect(content).toEqual([
      { type: "thinking", text: "", providerMetadata: { redacted: "xyz" } },
      { type: "text", text: "ok" },
    ]);
  });

  test("may be a file alone: that is an answer, told as an event and sent back with the next request", async () => {
    const file = {
      type: "data",
      mediaType: "image/png",
      source: { kind: "base64", data: "AAAA" },
    } as const;
    const model = chunkModel([
      [{ ...file, providerMetadata: { p: 1 } }, finish()],
      [text("A picture."), finish()],
    ]);
    const events: AgentEvent[] = [];
    const agent = new ReActAgent({ name: "a", model, onEvent: (event) => events.push(event) });
    const { message } = await agent.call("draw");
    expect(message.content).toEqual([{ ...file, providerMetadata: { p: 1 } }]);
    expect(events.filter(({ type }) => type === "data")).toMatchObject([file]);
    await agent.call("what is it?");
    expect(model.requests[1]?.messages[1]?.content).toEqual(message.content);
  });
});

describe("a file larger than a message may be", () => {
  test("reaches the caller and the log whole, and leaves a note in the context", async () => {
    const stateStore = new InMemoryAgentStateStore();
    const { log } = stateStore.companions();
    const data = "A".repeat(3_000);
    const picture = { type: "data", mediaType: "image/png", source: { kind: "base64", data } };
    const small = { ...picture, source: { kind: "base64", data: "BBBB" } };
    const model = chunkModel([
      [text("Here:"), picture, small, finish()] as ScriptedStream,
      [text("ok"), finish()],
    ]);
    const limits = { messageBytes: 2_000 };
    const agent = new ReActAgent({ name: "a", model, stateStore, limits });
    const { message } = await agent.call("draw", { sessionId: "s" });
    expect(message.content).toEqual([{ type: "text", text: "Here:" }, picture, small]);
    await agent.call("again", { sessionId: "s" });
    expect(model.requests[1]?.messages[1]?.content).toEqual([
      { type: "text", text: "Here:" },
      { type: "text", text: expect.stringMatching(/^\(image\/png, 3000 characters as base64/) },
      small,
    ]);
    const slot = { agentId: "a", userId: null, sessionId: "s" };
    const records = await log.read(slot);
    const logged = records.find((record) => record.message?.id === message.id);
    if (!logged) throw new Error("the reply is not in the log");
    expect((await withBlobs(log, slot, logged)).message).toEqual(message);
  });
});

describe("a reply the provider's filter stopped", () => {
  test("fails the call as content, and is not tried again", async () => {
    const model = chunkModel([[text("I was about to"), finish("content_filter")]]);
    const agent = new ReActAgent({ name: "a", model });
    const error = await agent.call("hi").catch((reason: unknown) => reason);
    expect(ModelError.is(error)).toBe(true);
    expect(error).toMatchObject({ kind: "content", retryable: false });
    expect(model.requests).toHaveLength(1);
  });
});
