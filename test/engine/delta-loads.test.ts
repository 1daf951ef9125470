import {
  type AgentEvent,
  type Message,
  type ReActAgent,
  type ReActAgentOptions,
  tool,
  userMessage,
} from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { agentOn } from "./agent-on.js";
import { outline } from "./conversation.js";
import { FaultyStore } from "./faulty-store.js";

const ctx = { sessionId: "s" };

type Loaded = Extract<AgentEvent, { type: "state_loaded" }>;

/** An agent with a cache of its own, as on another node, and how it came by the state of each call. */
function node(store: FaultyStore, options: Partial<ReActAgentOptions> = {}) {
  const loads: Loaded[] = [];
  const onEvent = (event: AgentEvent) => {
    if (event.type === "state_loaded") loads.push(event);
  };
  return { agent: agentOn(store, { onEvent, ...options }), loads };
}

async function longSession(store: FaultyStore, length: number): Promise<void> {
  const messages: Message[] = Array.from({ length }, (_, n) => userMessage(`old ${n}`));
  await agentOn(store).updateAgentState(null, "s", (state) => {
    state.contextMutable().replaceAll(messages);
  });
}

/** Replaces what the next load or lease is answered with. */
function nextAnswer(store: FaultyStore, fused: boolean, change: (answer: unknown) => unknown) {
  store.next(fused ? "acquire" : "load", async (run) => {
    const answer = await run();
    if (!fused) return change(answer) as typeof answer;
    const lease = answer as { loaded: unknown };
    const { loaded } = lease;
    Object.defineProperty(lease, "loaded", { value: change(loaded) });
    return answer;
  });
}

describe.each([true, false])("two nodes that take turns on a session, fused: %s", (fused) => {
  test("read what the other has added, and nothing else, however long the session is", async () => {
    const bytes = await Promise.all(
      [10, 5_000].map(async (length) => {
        const store = new FaultyStore({ fused });
        await longSession(store, length);
        const nodes = [node(store), node(store)] as const;
        for (let turn = 0; turn < 6; turn++) await nodes[turn % 2]?.agent.call(`${turn}`, ctx);
        const loads = nodes.flatMap((each) => each.loads);
        expect(loads.map(({ source }) => source)).toEqual([
          ...["store", "delta", "delta"],
          ...["store", "delta", "delta"],
        ]);
        expect(loads.map(({ messages }) => messages - length)).toEqual([0, 4, 8, 2, 6, 10]);
        return loads.filter(({ source }) => source === "delta").map((load) => load.bytes);
      }),
    );
    for (const [turn, short] of (bytes[0] ?? []).entries())
      expect(Math.abs((bytes[1]?.[turn] ?? 0) - short)).toBeLessThan(50);
  });

  test("send the model what one node alone would", async () => {
    const lookUp = tool({
      name: "look_up",
      description: "Looks something up.",
      input: z.object({}),
      execute: () => "found",
    });
    const reply = (_: unknown, index: number) =>
      index % 2 === 0 ? { toolCalls: [{ name: "look_up", input: {} }] } : "done";
    const requests = async (nodes: number): Promise<readonly (readonly string[])[]> => {
      const store = new FaultyStore({ fused });
      const models = Array.from({ length: nodes }, () => scriptedModel(reply));
      const agents = models.map((model) => agentOn(store, { model, tools: [lookUp] }));
      const seen: (readonly string[])[] = [];
      for (let turn = 0; turn < 8; turn++) {
        const model = models[turn % nodes];
        const before = model?.requests.length ?? 0;
        await agents[turn % nodes]?.call(`turn ${turn}`, ctx);
        for (const { messages } of model?.requests.slice(before) ?? [])
          seen.push(outline(messages));
      }
      return seen;
    };
    expect(await requests(2)).toEqual(await requests(1));
    expect(await requests(3)).toEqual(await requests(1));
  });

  test("agree on a session that is edited between the turns in any way", async () => {
    const edit = fc.oneof(
      fc.record({ kind: fc.constant("call" as const) }),
      fc.record({ kind: fc.constant("cut" as const), at: fc.nat({ max: 12 }) }),
      fc.record({ kind: fc.constant("replace" as const), at: fc.nat({ max: 12 }) }),
      fc.record({ kind: fc.constant("summary" as const) }),
    );
    const steps = fc.array(fc.tuple(fc.nat({ max: 2 }), edit), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(steps, async (made) => {
        const store = new FaultyStore({ fused });
        const agents = Array.from({ length: 3 }, () => agentOn(store));
        for (const [at, step] of made) {
          const agent = agents[at] as ReActAgent;
          if (step.kind === "call") await agent.call("hi", ctx);
          else
            await agent.updateAgentState(null, "s", (state) => {
              const context = state.contextMutable();
              if (step.kind === "summary") state.summary = "so far";
              else if (step.kind === "cut") context.splice(step.at, 3);
              else if (step.at < context.length) context.replace(step.at, userMessage("other"));
            });
          const fresh = (await agentOn(store).getAgentState(null, "s"))?.toJSON();
          for (const each of agents)
            expect((await each.getAgentState(null, "s"))?.toJSON()).toEqual(fresh);
        }
      }),
      { numRuns: 30 },
    );
  });

  test.each([
    ["a message that cannot be read", (change: object) => ({ ...change, append: [{ id: 1 }] })],
    ["more messages kept than there are", (change: object) => ({ ...change, keep: 99 })],
    ["another start", (change: object) => ({ ...change, from: "1.other" })],
    ["a head that cannot be read", (change: object) => ({ ...change, head: { format: "x" } })],
  ])("load the whole state when an answer does not lead there: %s", async (_, spoil) => {
    const store = new FaultyStore({ fused });
    const [first, second] = [node(store), node(store)];
    await first.agent.call("1", ctx);
    await second.agent.call("2", ctx);
    nextAnswer(store, fused, (answer) => spoil(answer as object));
    await first.agent.call("3", ctx);
    expect(first.loads.map(({ source }) => source)).toEqual(["new", "store"]);
    const said = outline(await first.agent.getAgentState(null, "s"));
    expect(said.filter((line) => line.startsWith("user"))).toEqual([
      "user: 1",
      "user: 2",
      "user: 3",
    ]);
  });
});
