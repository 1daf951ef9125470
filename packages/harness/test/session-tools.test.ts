import { InMemoryAgentStateStore } from "@holdfast/core";
import { sessionTools } from "@holdfast/session-tools";
import { scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { HarnessAgent } from "../src/index.js";

const names = ["session_history", "session_list", "session_search"];

function offered(build: (builder: ReturnType<typeof HarnessAgent.builder>) => unknown) {
  const model = scriptedModel(() => "ok");
  const builder = HarnessAgent.builder()
    .name("assistant")
    .model(model)
    .stateStore(new InMemoryAgentStateStore())
    .workspace("./unused", { tools: false });
  build(builder);
  return builder
    .build()
    .call("hello")
    .then(() =>
      (model.requests[0]?.tools ?? [])
        .map(({ name }) => name)
        .filter((name) => name.startsWith("session_"))
        .sort(),
    );
}

test("an agent can read its earlier conversations by default", async () => {
  expect(await offered(() => undefined)).toEqual(names);
});

test("sessionTools(false) leaves them out", async () => {
  expect(await offered((builder) => builder.sessionTools(false))).toEqual([]);
});

test("session tools with options of the program's own take the place of the default ones", async () => {
  const own = sessionTools({ maxPageChars: 5_000 });
  expect(await offered((builder) => builder.use(own))).toEqual(names);
  expect(await offered((builder) => builder.use(own).sessionTools(false))).toEqual(names);
});

test("what another session was told is found in the next", async () => {
  const model = scriptedModel([
    "Noted.",
    { toolCalls: [{ name: "session_search", input: { query: "heron" } }] },
    "done",
  ]);
  const agent = HarnessAgent.builder()
    .name("assistant")
    .model(model)
    .stateStore(new InMemoryAgentStateStore())
    .workspace("./unused", { tools: false })
    .build();
  await agent.call("My boat is called Heron.", { userId: "ann", sessionId: "monday" });
  await agent.call("Which boat?", { userId: "ann", sessionId: "tuesday" });
  const [result] = model.requests[2]?.messages.at(-1)?.content ?? [];
  expect(JSON.stringify(result)).toMatch(/My boat is called »Heron«.*session_history with/);
});
