import { AgentState, type Message, textOf, toolCallsOf, toolResultsOf } from "@holdfast/core";
import { loadWhole } from "@holdfast/core/store-kit";
import { JsonFileAgentStateStore } from "@holdfast/store-json";
import { scriptedModel } from "@holdfast/testing";
import { expect, onTestFinished, test } from "vitest";
import { HarnessAgent } from "../src/index.js";
import { outcome, startProgram } from "./program.js";
import { inMemoryParts } from "./stores.js";
import { temporaryDirectory } from "./temporary-directory.js";

const slot = { agentId: "stoppable", userId: "alice", sessionId: "s-1" };

interface Outcome {
  readonly reason: string;
  readonly text: string;
  readonly requests: readonly { readonly messages: readonly Message[] }[];
}

function briefly(message: Message): string {
  const calls = toolCallsOf(message).map(({ name }) => `${name}?`);
  const results = toolResultsOf(message).map(
    ({ name, state, output }) => `${name} ${state} ${output.map((b) => "text" in b && b.text)}`,
  );
  return `${message.role}: ${[textOf(message), ...calls, ...results].join("")}`;
}

async function storedState(root: string): Promise<AgentState> {
  const store = new JsonFileAgentStateStore({ root });
  const loaded = await loadWhole(store, slot);
  await store.close();
  if (loaded === null) throw new Error("nothing was saved");
  return AgentState.fromParts(loaded);
}

test("SIGTERM in the middle of a call saves it, and the next process goes on from there", async () => {
  const home = temporaryDirectory();
  const root = `${home}/state`;

  const first = startProgram("stoppable", root, [`${home}/workspace`, "Do it."]);
  await first.line("started");
  process.kill(first.pid, "SIGTERM");
  await first.line("draining");
  // The tool may finish; what comes after it may not begin.
  first.send("the slow result");
  expect(await first.exited).toEqual({ code: null, signal: "SIGTERM" });

  const saved = await storedState(root);
  expect(saved.shutdownInterrupted).toBe(true);
  expect(saved.context.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);

  const { reason, text, requests } = await outcome<Outcome>(
    startProgram("stoppable", root, [`${home}/workspace`, "Go on."]),
  );
  expect({ reason, text, requests: requests.length }).toEqual({
    reason: "stop",
    text: "finished",
    requests: 1,
  });
  expect(requests[0]?.messages.map(briefly)).toEqual([
    "user: Do it.",
    "assistant: slow?",
    "tool: slow success the slow result",
    "user: Go on.",
  ]);
  expect((await storedState(root)).shutdownInterrupted).toBe(false);
});

test("options choose the signals and the time", async () => {
  const builder = HarnessAgent.builder()
    .name("assistant")
    .model(scriptedModel([]))
    .stateStore(inMemoryParts().stateStore);
  // The signal must not end the test once the agent is shut down.
  const survive = () => undefined;
  process.on("SIGUSR2", survive);
  onTestFinished(() => void process.off("SIGUSR2", survive));
  const before = process.listenerCount("SIGUSR2");
  const agent = builder.signalHandlers({ signals: ["SIGUSR2"], timeoutMs: 7_000 }).build();
  expect(agent.harness.signalHandlers).toEqual({ signals: ["SIGUSR2"], timeoutMs: 7_000 });
  expect(process.listenerCount("SIGUSR2")).toBe(before + 1);
  const asked = new Promise((resolve) => {
    const shutdown = agent.shutdown.bind(agent);
    agent.shutdown = (options) => {
      resolve(options);
      return shutdown(options);
    };
  });
  process.kill(process.pid, "SIGUSR2");
  expect(await asked).toEqual({ timeoutMs: 7_000 });
  await agent.close();
  expect(process.listenerCount("SIGUSR2")).toBe(before);
});

test.each([{ timeoutMs: -1 }, { timeoutMs: "1s" }, { signals: ["SIGNOPE"] }, "yes"])(
  "%j is refused",
  (options) => {
    const builder = HarnessAgent.builder().name("assistant").model(scriptedModel([]));
    expect(() => builder.signalHandlers(options as never).build()).toThrow(/signalHandlers/);
  },
);

test("handlers are there from build() to close(), and only when asked for", async () => {
  const builder = HarnessAgent.builder()
    .name("assistant")
    .model(scriptedModel([]))
    .stateStore(inMemoryParts().stateStore);
  const count = () => process.listenerCount("SIGTERM") + process.listenerCount("SIGINT");
  const before = count();
  const plain = builder.build();
  expect(count()).toBe(before);
  const handling = builder.signalHandlers(true).build();
  expect(count()).toBe(before + 2);
  expect(() => builder.workspace("").build()).toThrow(/workspace/);
  expect(count()).toBe(before + 2);
  await handling.close();
  await plain.close();
  expect(count()).toBe(before);
});
