import { randomUUID } from "node:crypto";
import { HarnessAgent } from "@holdfast/harness";
import type { Handler } from "@holdfast/server";
import { chatHandler } from "@holdfast/server/ai-sdk";
import type { UiMessage } from "@holdfast/server/ai-sdk/page";
import { RedisDistributedStore } from "@holdfast/store-redis";
import { eventually, tempDirectory } from "@holdfast/testing";
import { Redis } from "ioredis";
import { expect, inject, onTestFinished, test } from "vitest";
import { DictatedModel } from "../engine/feeds.js";

/** A node of a product: an agent of the harness, on the store that all of them share, behind a handler. */
async function node(keyPrefix: string, { model }: DictatedModel): Promise<Handler> {
  const client = new Redis(inject("redisUrl"));
  const store = RedisDistributedStore.from(client, { keyPrefix });
  const root = await tempDirectory();
  const agent = HarnessAgent.builder()
    .name("guide")
    .model(model)
    .distributedStore(store)
    .workspace(root.path)
    .eventFeed()
    .build();
  onTestFinished(async () => {
    await agent.close();
    await store.close();
    client.disconnect();
    await root[Symbol.asyncDispose]();
  });
  return chatHandler({ agent, identify: (request) => request.headers.get("x-user") });
}

function request(path: string, method = "GET", body?: object): Request {
  return new Request(`http://localhost/api/chat${path}`, {
    method,
    headers: { "x-user": "alice", "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
}

async function messages(handler: Handler): Promise<UiMessage[]> {
  return (await (await handler(request("/trip/messages"))).json()) as UiMessage[];
}

/** Frames of a stream, without those that only keep it alive. */
async function frames(response: Response): Promise<string[]> {
  return (await response.text()).split("\n\n").filter((frame) => frame.startsWith("data: "));
}

test("a reply that one node gives is read and stopped on another, and both pages see the same", async () => {
  const model = new DictatedModel();
  const keyPrefix = `${randomUUID()}:`;
  const here = await node(keyPrefix, model);
  const there = await node(keyPrefix, new DictatedModel());
  const parts = [{ type: "text", text: "Umbrella in Oslo?" }];
  const message = { id: "m", role: "user", parts };
  const first = await here(request("", "POST", { id: "trip", message }));
  expect(first.headers.get("x-call-id")).toBe("message-m");
  const read = frames(first);
  model.say("Take ", "an ");
  await eventually(async () => {
    const response = await there(request("/trip/messages"));
    return response.headers.get("x-call-id") === "message-m";
  });
  expect((await messages(there)).map(({ role }) => role)).toEqual(["user"]);
  const second = await there(request("/trip/stream"));
  expect(second.status).toBe(200);
  const watched = frames(second);
  model.say("umbrella");
  await eventually(async () => {
    const response = await there(request("/trip/stop", "POST"));
    return ((await response.json()) as { readonly result: unknown }).result === "stopped";
  });
  expect(await watched).toEqual(await read);
  expect((await read).at(-1)).toBe("data: [DONE]");
  const [, reply] = await messages(there);
  expect(reply).toMatchObject({ id: "reply-message-m", metadata: { status: "interrupted" } });
  expect(await messages(here)).toEqual(await messages(there));
});
