import {
  type AgentStateStore,
  InMemoryAgentStateStore,
  ReActAgent,
  type ReActAgentOptions,
  textOf,
  tool,
} from "@holdfast/core";
import { type EncryptionOptions, withEncryption } from "@holdfast/encryption";
import { HarnessAgent } from "@holdfast/harness";
import { JsonFileAgentStateStore } from "@holdfast/store-json";
import { scriptedModel, tempDirectory } from "@holdfast/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { logged, logRecords, outcomes, outline } from "../engine/conversation.js";
import { door } from "../engine/door.js";
import { FaultyStore } from "../engine/faulty-store.js";
import { stallingModel } from "../engine/models.js";
import { canary, filesWith } from "./canary.js";
import { freshKey, freshOptions } from "./keys.js";
import { slotOf } from "./stored.js";

const ctx = { userId: "u", sessionId: "s" };
const remember = tool({
  name: "remember",
  description: "Remembers a text.",
  input: z.object({ text: z.string() }),
  execute: ({ text }) => `remembered ${text} `.repeat(5_000),
});

const firstScript = () =>
  scriptedModel([{ toolCalls: [{ name: "remember", input: { text: canary } }] }, "I will."]);
const secondScript = () => scriptedModel(() => `You said ${canary}.`);

async function directory(): Promise<string> {
  const made = await tempDirectory();
  onTestFinished(() => made.cleanup());
  return made.path;
}

const memory = (fused: boolean) => async () => {
  const inner = new InMemoryAgentStateStore({ fused });
  return { open: (options: EncryptionOptions) => withEncryption(inner, options), files: null };
};
const files = async () => {
  const root = await directory();
  const open = (options: EncryptionOptions) =>
    withEncryption(new JsonFileAgentStateStore({ root }), options);
  return { open, files: root };
};

describe.each([
  ["in memory, fused", memory(true)],
  ["in memory, not fused", memory(false)],
  ["on files", files],
])("an agent over an encrypted store %s", (_, make) => {
  const agentOver = (store: AgentStateStore, model: ReActAgentOptions["model"]) =>
    new ReActAgent({ name: "a", model, tools: [remember], stateStore: store });

  test("has a conversation with tools, and another one goes on with it", async () => {
    const { open, files } = await make();
    const options = freshOptions();
    const first = agentOver(open(options), firstScript());
    expect((await first.call(`Remember ${canary}`, ctx)).text).toBe("I will.");
    await first.close();

    const store = open(options);
    const model = secondScript();
    const second = agentOver(store, model);
    expect((await second.call("What did I say?", ctx)).text).toBe(`You said ${canary}.`);
    expect(outline(model.requests[0]?.messages).map((line) => line.slice(0, 40))).toEqual([
      `user: Remember ${canary}`,
      "assistant: call remember",
      expect.stringMatching(/^tool: success remembered canary/),
      "assistant: I will.",
      "user: What did I say?",
    ]);
    const records = await logRecords(store, slotOf());
    expect(outcomes(records)).toEqual(["committed", "committed"]);
    expect(logged(records)).toHaveLength(6);
    const { log } = store.companions?.() ?? {};
    const found = await log?.search({ agentId: "a", userId: "u", text: canary });
    expect(found?.hits).toHaveLength(4);
    await second.close();
    if (files !== null) expect(filesWith(files)).toEqual([]);
  });

  test("is interrupted with a message from another agent on the same store", async () => {
    const { open } = await make();
    const options = freshOptions();
    const reached = door();
    const running = agentOver(open(options), stallingModel("half", reached.open));
    const call = running.call("go", ctx);
    await reached.opened;
    const other = agentOver(open(options), secondScript());
    expect(await other.interrupt("u", "s", `stop, ${canary}`)).toBe("stopped");
    await call;
    const state = await other.getAgentState("u", "s");
    expect(state?.context.map(textOf)).toContain(`stop, ${canary}`);
    await Promise.all([running.close(), other.close()]);
  });
});

test("a fused store behind gets the log and the lease inside its saves, sealed", async () => {
  const inner = new FaultyStore({ fused: true });
  const agent = new ReActAgent({
    name: "a",
    model: firstScript(),
    tools: [remember],
    stateStore: withEncryption(inner, freshOptions()),
  });
  await agent.call(`Remember ${canary}`, ctx);
  expect(inner.of("append")).toEqual([]);
  expect(inner.of("load")).toEqual([]);
  const writes = inner.of("save").map(({ write }) => write);
  expect(writes).toHaveLength(1);
  expect(writes[0]).toMatchObject({ lease: expect.any(String), release: true });
  expect(writes[0]?.log).toHaveLength(5);
  expect(JSON.stringify(writes)).not.toContain(canary);
});

describe("a HarnessAgent", () => {
  const builder = (workspace: string, model: ReActAgentOptions["model"]) =>
    HarnessAgent.builder().name("a").model(model).tools(remember).workspace(workspace);

  test("takes an encrypted state store; neither state nor workspace shows what was said", async () => {
    const [root, workspace] = [await directory(), await directory()];
    const options = freshOptions();
    const open = () => withEncryption(new JsonFileAgentStateStore({ root }), options);
    const first = builder(workspace, firstScript()).stateStore(open()).build();
    await first.call(`Remember ${canary}`, ctx);
    await first.close();
    const model = secondScript();
    const second = builder(workspace, model).stateStore(open()).build();
    expect((await second.call("What did I say?", ctx)).text).toBe(`You said ${canary}.`);
    expect(model.requests[0]?.messages).toHaveLength(5);
    await second.close();
    expect([...filesWith(root), ...filesWith(workspace)]).toEqual([]);
  });

  test("takes an encrypted distributed store", async () => {
    const workspace = await directory();
    const inner = new InMemoryAgentStateStore();
    const options = freshOptions();
    for (const model of [firstScript(), secondScript()]) {
      const bundle = withEncryption(inner.companions(), options);
      const agent = builder(workspace, model).distributedStore(bundle).build();
      await agent.call(`Remember ${canary}`, ctx);
      await agent.close();
    }
    const stored = JSON.stringify([
      await inner.load(slotOf()),
      await inner.companions().log.read(slotOf()),
    ]);
    expect(stored).toContain('"sealed"');
    expect(stored).not.toContain(canary);
    expect(filesWith(workspace)).toEqual([]);
  });
});

test("a call of a node without the key is refused, and leaves no words that nobody else can open", async () => {
  const store = new InMemoryAgentStateStore();
  const agentWith = (options: EncryptionOptions) =>
    new ReActAgent({
      name: "a",
      model: scriptedModel(() => "ok"),
      stateStore: withEncryption(store, options),
    });
  const agent = agentWith(freshOptions());
  await agent.call("one", ctx);
  const stranger = agentWith({ keys: [freshKey("other")] });
  await expect(stranger.call("two", ctx)).rejects.toThrow('key "k1", which is not configured');
  expect(await store.inbox.read(slotOf())).toEqual([]);
  expect((await agent.call("three", ctx)).text).toBe("ok");
});

test("a call that cannot open the words of another node leaves none of its own beside them", async () => {
  const inner = new FaultyStore({ fused: true });
  const agentWith = (options: EncryptionOptions) =>
    new ReActAgent({
      name: "a",
      model: scriptedModel(() => "ok"),
      stateStore: withEncryption(inner, options),
    });
  inner.next("save", async () => {
    throw new Error("died");
  });
  const [mine, theirs] = [freshOptions(), { keys: [freshKey("other")] }];
  await expect(agentWith(theirs).call("one", ctx)).rejects.toThrow("died");
  const left = await inner.inbox.read(slotOf());
  expect(left).toHaveLength(1);
  await expect(agentWith(mine).call("two", ctx)).rejects.toThrow("not configured");
  expect(await inner.inbox.read(slotOf())).toEqual(left);
});
