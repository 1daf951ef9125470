import { InMemoryOffloader, ReActAgent, toolResultsOf } from "@holdfast/core";
import { evictionOf, toolResultEviction } from "@holdfast/eviction";
import { scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { RecordingOffloader, readBack } from "./offloaders.js";
import { callsOnce, eventsOf, onlyResult, takeTurn, toolThat } from "./one-turn.js";

const alice = { userId: "alice", sessionId: "s1" };
const long = Array.from({ length: 20_000 }, (_, index) => `line ${index}`).join("\n");

test("results of parallel calls are evicted each by itself", async () => {
  const offloader = new RecordingOffloader();
  const tools = ["a", "b", "c", "d", "e"].map((letter) =>
    toolThat(() => letter.repeat(letter === "c" ? 10 : 100_000), `tool_${letter}`),
  );
  const turn = await takeTurn(tools, { offloader });
  expect(turn.results.map(({ name }) => name)).toEqual(tools.map(({ name }) => name));
  for (const result of turn.results) {
    const letter = result.name.slice(-1);
    const eviction = evictionOf(result);
    if (letter === "c") expect(result.output).toEqual([{ type: "text", text: "cccccccccc" }]);
    else
      expect(await readBack(offloader, alice, eviction?.reference ?? "")).toBe(
        letter.repeat(100_000),
      );
  }
  expect(eventsOf(turn, "tool_result_evicted")).toHaveLength(4);
});

test("users whose provider reuses call ids do not meet", async () => {
  const offloader = new InMemoryOffloader();
  const secrets = new Map(["alice", "bob"].map((user) => [user, `${user}'s `.repeat(20_000)]));
  const references = new Map<string, string>();
  const fetch = toolThat(() => "");
  const agent = new ReActAgent({
    name: "agent",
    model: scriptedModel(({ messages }) =>
      messages.some(({ role }) => role === "tool")
        ? "Done."
        : { toolCalls: [{ id: "call_0", name: "fetch_page", input: {} }] },
    ),
    tools: [{ ...fetch, execute: (_, ctx) => secrets.get(ctx.userId ?? "") }],
    offloader,
    plugins: [toolResultEviction()],
  });
  await Promise.all([...secrets.keys()].map((userId) => agent.call("Go.", { userId })));
  for (const userId of secrets.keys()) {
    const state = await agent.getAgentState({ userId, sessionId: "default" });
    const [result] = state?.context.flatMap(toolResultsOf) ?? [];
    references.set(userId, (result && evictionOf(result)?.reference) ?? "");
  }
  for (const userId of secrets.keys())
    for (const [owner, reference] of references)
      expect(await readBack(offloader, { userId, sessionId: "default" }, reference)).toBe(
        owner === userId ? secrets.get(owner) : null,
      );
  await agent.close();
});

test("5 MB add less than 5 KB to the saved state", async () => {
  const fiveMegabytes = "0123456789abcdef".repeat((5 * 1024 * 1024) / 16);
  const savedBytes = async (output: string) => {
    const { state } = await takeTurn([toolThat(() => output)], {
      offloader: new InMemoryOffloader(),
    });
    return Buffer.byteLength(state.toJson());
  };
  expect((await savedBytes(fiveMegabytes)) - (await savedBytes(""))).toBeLessThan(5 * 1024);
});

test("with a save after every step no save ever holds the original", async () => {
  const fetch = toolThat(() => long);
  const turn = await takeTurn([fetch], {
    offloader: new InMemoryOffloader(),
    agent: { persistence: "step" },
  });
  const saves = eventsOf(turn, "state_saved");
  expect(saves.length).toBeGreaterThan(2);
  for (const { bytes } of saves) expect(bytes).toBeLessThan(20_000);
  expect(evictionOf(onlyResult(turn))).not.toBeNull();
});

test("the pages the model reads back are not evicted again", async () => {
  const offloader = new InMemoryOffloader();
  const fetch = toolThat(() => long);
  const model = scriptedModel(({ messages }) => {
    const results = messages.flatMap(toolResultsOf);
    const [first] = results;
    if (first === undefined) return { toolCalls: [{ name: fetch.name, input: {} }] };
    const reference = evictionOf(first)?.reference ?? "";
    if (results.length > 1) return "Done.";
    return { toolCalls: [{ name: "read_offloaded", input: { reference, limit: 64_000 } }] };
  });
  const agent = new ReActAgent({
    name: "agent",
    model,
    tools: [fetch],
    offloader,
    plugins: [toolResultEviction({ maxResultChars: 10_000 })],
  });
  await agent.call("Go.", alice);
  const [, page] = (await agent.getAgentState(alice))?.context.flatMap(toolResultsOf) ?? [];
  expect(page?.output[0]).toEqual({ type: "text", text: long.slice(0, 64_000) });
  await agent.close();
});

test("a call that never ends in a result is not touched", async () => {
  const { execute: _, ...outside } = toolThat(() => "");
  const agent = new ReActAgent({
    name: "agent",
    model: callsOnce([outside]),
    tools: [outside],
    offloader: new InMemoryOffloader(),
    plugins: [toolResultEviction()],
  });
  expect(await agent.call("Go.", alice)).toMatchObject({ reason: "tool_suspended" });
  await agent.close();
});
