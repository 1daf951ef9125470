import { join } from "node:path";
import { type DistributedStore, textOf, toolResultsOf } from "@holdfast/core";
import { HarnessAgent } from "@holdfast/harness";
import { memoryFlush } from "@holdfast/memory-flush";
import { sessionTools } from "@holdfast/session-tools";
import { eventually, scaled, scriptedModel, spawnScript, tempDirectory } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { expectPaired, outline } from "../engine/conversation.js";
import { newPlace, sharedStores } from "./every-store.js";
import { keeper } from "./keeper.mjs";

const session = { userId: "u", sessionId: "s" };
const script = new URL("keeper-node.mjs", import.meta.url);

/** What the model of another session is shown of this one. */
async function historyOf(store: DistributedStore): Promise<string> {
  const model = scriptedModel([
    { toolCalls: [{ name: "session_history", input: { sessionId: "s" } }] },
    "seen",
  ]);
  const reader = keeper(store, { model, plugins: [sessionTools()] });
  await reader.call("look", { userId: "u", sessionId: "reader" });
  const last = model.requests[1]?.messages.at(-1);
  const [result] = last ? toolResultsOf(last) : [];
  expect(result?.state).toBe("success");
  return result?.output.map((part) => (part.type === "text" ? part.text : "")).join("\n") ?? "";
}

/** What a memory is told of the session when the next call was made. */
async function flushed(store: DistributedStore): Promise<string> {
  await using directory = await tempDirectory();
  const heard: string[] = [];
  const memoryModel = scriptedModel(({ messages }) => {
    heard.push(...messages.map(textOf));
    return "NOTHING";
  });
  const agent = HarnessAgent.create({
    name: "keeper",
    model: scriptedModel(["re: next"]),
    distributedStore: store,
    workspace: join(directory.path, "workspace"),
    plugins: [memoryFlush({ model: memoryModel, flushTrigger: { throttleMs: 0 } })],
  });
  await agent.call("next", session);
  await agent.close();
  const conversation = heard.find((text) => text.includes("<conversation"));
  if (conversation === undefined) throw new Error("nothing was flushed");
  return conversation;
}

const timesIn = (text: string, words: string) => text.split(words).length - 1;

test("files: a turn that was logged and never saved is shown to nobody, and once when it was made again", async () => {
  await using place = await newPlace("files", 30_000);
  const node = [JSON.stringify(place.choice), JSON.stringify({ dieAt: "final save" })];
  await using dying = spawnScript(script, node);
  await dying.line("ready");
  dying.send(JSON.stringify({ input: "question", ctx: { ...session, callId: "once" } }));
  expect(await dying.exited).toMatchObject({ signal: "SIGKILL" });
  const store = place.open();
  // It had come as far as its log, which said that it was committed.
  const records = await store.log.read({ agentId: "keeper", ...session });
  expect(records.flatMap(({ message }) => (message ? [textOf(message)] : []))).toContain(
    "re: question",
  );
  expect(await historyOf(store)).not.toContain("re: question");
  const agent = keeper(store);
  expect(outline(await agent.getAgentState("u", "s"))).toEqual(["user: question"]);
  expect(await flushed(store)).not.toContain("re: question");
  expect((await agent.call("question", { ...session, callId: "once" })).text).toBe("re: question");
  const history = await historyOf(store);
  expect(timesIn(history, "re: question")).toBe(1);
  expect(timesIn(history, "question")).toBe(2);
});

describe.concurrent.each(scaled(["redis"], sharedStores))("%s", (kind) => {
  test("of three tools at once, only the one that still ran when its node died has an unknown outcome", async () => {
    await using place = await newPlace(kind, 5_000);
    const node = [JSON.stringify(place.choice), JSON.stringify({ persistence: "step" })];
    await using dying = spawnScript(script, node);
    const store = place.open();
    const agent = keeper(store);
    await agent.call("hello", { userId: "u", sessionId: "ready-too" });
    await dying.line("ready");
    const words = "use pay, hang, look: it";
    dying.send(JSON.stringify({ input: words, ctx: { ...session, callId: "once" } }));
    await eventually(
      async () => {
        const state = await agent.getAgentState("u", "s");
        return state?.context.flatMap((message) => toolResultsOf(message)).length === 2;
      },
      { what: "the results of the tools that have finished" },
    );
    await dying.kill9();
    const did: string[] = [];
    const successor = keeper(store, { tell: (what) => void did.push(what) });
    const reply = await successor.call(words, { ...session, callId: "once" });
    expect(reply.text).toBe(`re: ${words}`);
    expect(did.filter((what) => what.startsWith("tool"))).toEqual([]);
    const state = await successor.getAgentState("u", "s");
    expectPaired(state?.context ?? []);
    const results = state?.context.flatMap((message) => toolResultsOf(message)) ?? [];
    expect(results.map(({ name, state: end }) => `${name} ${end}`).sort()).toEqual([
      "hang interrupted",
      "look success",
      "pay success",
    ]);
  });
});
