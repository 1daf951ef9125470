import { type AgentEvent, ReActAgent, textOf } from "@holdfast/core";
import { eventually, scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { messages, Stores } from "./stores.js";

const stores = new Stores();

/** An agent on a node of its own, whose model answers when it is let, or stops when the call does. */
function node(
  label: string,
  answers: Promise<unknown> = Promise.resolve(),
  options: Partial<ConstructorParameters<typeof ReActAgent>[0]> = {},
) {
  const model = scriptedModel(async (request) => {
    const stopped = new Promise((_, reject) => {
      request.signal.addEventListener("abort", () => reject(request.signal.reason));
    });
    await Promise.race([answers, stopped]);
    return `${label} heard ${request.messages.length}`;
  });
  return new ReActAgent({ name: "agent", model, stateStore: stores.open(), ...options });
}

const session = { userId: "user", sessionId: "session" };

async function said(agent: ReActAgent): Promise<string[]> {
  return ((await agent.getAgentState(session))?.context ?? []).map(textOf);
}

test("a conversation goes on from node to node, turn by turn", async () => {
  const nodes = [node("a"), node("b"), node("c")];
  for (let turn = 0; turn < 9; turn++) {
    const { text } = (await nodes[turn % 3]?.call(`turn ${turn}`, session)) ?? {};
    expect(text).toBe(`${"abc"[turn % 3]} heard ${2 * turn + 1}`);
  }
  for (const agent of nodes) expect(await said(agent)).toHaveLength(18);
});

test("nodes that take turns load what the others changed, however long the session", async () => {
  const loads: { readonly source: string; readonly bytes: number }[] = [];
  const onEvent = (event: AgentEvent) => {
    if (event.type === "state_loaded") loads.push(event);
  };
  const nodes = ["a", "b"].map((label) => node(label, undefined, { onEvent }));
  await nodes[0]?.updateAgentState(session, (state) => {
    state
      .contextMutable()
      .push(...messages(Array.from({ length: 2_000 }, (_, at) => `text ${at}`)));
  });
  loads.length = 0;
  for (let turn = 0; turn < 8; turn++) await nodes[turn % 2]?.call(`turn ${turn}`, session);
  expect(loads.map(({ source }) => source)).toEqual(["cache", "store", ...Array(6).fill("delta")]);
  for (const { bytes } of loads.slice(2)) expect(bytes).toBeLessThan(5_000);
});

test("calls made on three nodes at once run one after the other, none is lost", async () => {
  const nodes = [node("a"), node("b"), node("c")];
  const calls = Array.from({ length: 30 }, (_, index) =>
    nodes[index % 3]?.call(`call ${index}`, session),
  );
  const replies = await Promise.all(calls);
  const heard = replies.map((reply) => Number(reply?.text.split(" ").at(-1)));
  expect(heard.sort((a, b) => a - b)).toEqual(calls.map((_, index) => 2 * index + 1));
  const asked = (await said(nodes[0] as ReActAgent)).filter((text) => text.startsWith("call"));
  expect(new Set(asked).size).toBe(30);
});

test("a call is interrupted from another node, running or waiting", async () => {
  const [here, there] = [node("a", new Promise(() => {})), node("b")];
  const running = here.call("first", session);
  const store = stores.open();
  const slot = { agentId: "agent", ...session };
  await eventually(async () => (await store.fuses.gate.calls(slot)).length === 1);
  const waiting = here.call("second", session);
  await eventually(async () => (await store.fuses.gate.calls(slot)).length === 2);
  expect(await there.interrupt("user", "session", "stop")).toBe("stopped");
  expect((await running).reason).toBe("interrupted");
  await eventually(() => there.interrupt("user", "session"));
  expect((await waiting).reason).toBe("interrupted");
  expect(await there.interrupt("user", "session")).toBe(false);
  expect(await said(there)).toEqual(["first", "stop", "second"]);
});

test("a call on another node takes over from the one that runs", async () => {
  const [here, there] = [node("a", new Promise(() => {})), node("b")];
  const running = here.call("taken back", session);
  const store = stores.open();
  const slot = { agentId: "agent", ...session };
  await eventually(async () => (await store.fuses.gate.calls(slot)).length === 1);
  const reply = await there.call("instead", { ...session, onBusy: "rollback" });
  expect(reply.text).toBe("b heard 1");
  await running.catch(() => undefined);
  expect(await said(here)).toEqual(["instead", "b heard 1"]);
});
