import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { InMemoryAgentStateStore, ReActAgent, tool } from "@holdfast/core";
import type { StateWrite } from "@holdfast/core/store-kit";
import { scriptedModel, tempDirectory } from "@holdfast/testing";
import { expect, test } from "vitest";
import { z } from "zod";

const session = { userId: "alice", sessionId: "s" };

test("a turn on files writes hardly more where the head holds 50 KB that it does not change", async () => {
  await using root = await temporary();
  const script = fileURLToPath(new URL("head-turns.mjs", import.meta.url));
  const [small = 0, large = 0] = [0, 50].map((kilobytes) =>
    Number(execFileSync(process.execPath, [script, String(kilobytes), root.path])),
  );
  console.log(`bytes per turn, head of 0 → 50 KB: ${Math.round(small)} → ${Math.round(large)}`);
  expect(large / small).toBeLessThan(1.5);
});

test("a save of steps says of the head before the run only what the run has changed", async () => {
  const store = new CountingStore();
  let count = 0;
  const counting = tool({
    name: "count",
    description: "Counts.",
    input: z.object({}),
    execute: (_, { agentState }) => {
      if (agentState) agentState.extensions["counter"] = { version: 1, value: ++count };
      return "counted";
    },
  });
  const call = { toolCalls: [{ name: "count", input: {} }] };
  const model = scriptedModel(["first", call, call, "done"]);
  const agent = new ReActAgent({
    name: "cost",
    model,
    tools: [counting],
    stateStore: store,
    persistence: "step",
  });
  await agent.call("question", session);
  await agent.updateAgentState(session, (state) => {
    state.extensions["counter"] = { version: 1, value: 0 };
    state.extensions["large"] = { version: 1, value: "x".repeat(51_200) };
  });
  store.runs.length = 0;
  await agent.call("question", session);
  expect(store.runs.filter((run) => run !== "null").length).toBeGreaterThanOrEqual(2);
  // They name the run's messages and its input.
  expect(Math.max(...store.runs.map(({ length }) => length))).toBeLessThan(1_000);
});

class CountingStore extends InMemoryAgentStateStore {
  /** What each save said of the run that it belongs to, as JSON. */
  readonly runs: string[] = [];

  override save(...[slot, write]: Parameters<InMemoryAgentStateStore["save"]>) {
    this.runs.push(JSON.stringify((write as StateWrite).head["unfinishedRun"]));
    return super.save(slot, write);
  }
}

async function temporary() {
  const directory = await tempDirectory();
  return { path: directory.path, [Symbol.asyncDispose]: directory.cleanup };
}
