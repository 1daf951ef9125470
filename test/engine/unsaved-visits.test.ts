import {
  type AgentState,
  type AgentStateStore,
  assistantMessage,
  definePlugin,
  InMemoryAgentStateStore,
  type JsonObject,
  type ReActAgent,
  StateCorruptError,
  userMessage,
} from "@holdfast/core";
import { loadWhole } from "@holdfast/core/store-kit";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { agentOn } from "./agent-on.js";
import { outline, slotOf } from "./conversation.js";

const ctx = { sessionId: "s" };

/** An agent on this store, where its visits had the state from, and what its model was asked. */
function observed(store: AgentStateStore) {
  const sources: string[] = [];
  const model = scriptedModel(() => "ok");
  const agent = agentOn(store, {
    model,
    plugins: [idleCompactor],
    onEvent: (event) => {
      if (event.type === "state_loaded") sources.push(event.source);
    },
  });
  return { agent, sources, model };
}

const idleCompactor = definePlugin({
  name: "idle",
  contract: 1,
  setup: (host) =>
    host.provide("compactor", {
      compact: async ({ state }) => {
        const { length } = state.context;
        return { compacted: false, messagesBefore: length, messagesAfter: length };
      },
    }),
});

/** Serves three turns, then `visit`, then another turn. */
async function turnAfter(visit: (agent: ReActAgent) => Promise<unknown>, fused: boolean) {
  const { agent, sources, model } = observed(new InMemoryAgentStateStore({ fused }));
  for (const n of [1, 2, 3]) await agent.call(`${n}`, { ...ctx, callId: `c${n}` });
  const error = await visit(agent).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  await agent.call("next", ctx);
  const asked = outline(model.requests.at(-1)?.messages);
  return { source: sources.at(-1), asked, error, agent };
}

const turns = (...words: string[]) => words.flatMap((word) => [`user: ${word}`, "assistant: ok"]);
const asStored = [...turns("1", "2", "3"), "user: next"];
const refusal = new Error("no");

/** Edits the session, and fails. */
const failingEdit = (edit: (state: AgentState) => unknown) => (agent: ReActAgent) =>
  agent.updateAgentState(ctx, (state) => {
    edit(state);
    throw refusal;
  });

describe.each([true, false])("a visit that saves nothing, fused: %s", (fused) => {
  test.each<[string, (agent: ReActAgent) => Promise<unknown>]>([
    ["a repeated call", (agent) => agent.call("3", { ...ctx, callId: "c3" })],
    ["a callId that is in use", (agent) => agent.call("other", { ...ctx, callId: "c3" })],
    ["compact with nothing to do", (agent) => agent.compact(ctx)],
    ["an edit that throws", failingEdit(() => {})],
    [
      "an edit that is refused",
      (agent) =>
        agent.updateAgentState(ctx, (state) => {
          state.planModeContext = 5 as never;
        }),
    ],
    [
      "an answer about a call that is not open",
      (agent) => agent.call({ confirm: [{ toolCallId: "none", approve: true }] }, ctx),
    ],
  ])("leaves the state in the cache: %s", async (_, visit) => {
    const { source, asked } = await turnAfter(visit, fused);
    expect(source).toBe("cache");
    expect(asked).toEqual(asStored);
  });

  test.each<[string, (state: AgentState) => unknown]>([
    ["says something", (state) => state.contextMutable().push(userMessage("unsaved"))],
    [
      "says something and takes it back",
      (state) => {
        state.contextMutable().push(userMessage("unsaved"));
        state.contextMutable().splice(-1, 1);
      },
    ],
    ["drops the last message", (state) => state.contextMutable().splice(-1, 1)],
    ["replaces a message", (state) => state.contextMutable().replace(0, userMessage("unsaved"))],
    ["sets a section", (state) => Object.assign(state, { summary: "unsaved" })],
    [
      "writes into a section in place",
      (state) => {
        state.extensions["plugin"] = "unsaved";
      },
    ],
    [
      "leaves what cannot be stored",
      (state) => {
        state.extensions["plugin"] = (() => "unsaved") as never;
      },
    ],
  ])("loads the state anew when the edit %s before it fails", async (_, edit) => {
    const { source, asked, error, agent } = await turnAfter(failingEdit(edit), fused);
    expect(error).toBe(refusal);
    expect(source).toBe("store");
    expect(asked).toEqual(asStored);
    expect((await agent.getAgentState(ctx))?.extensions["plugin"]).toBeUndefined();
    const logged = await agent.history(ctx);
    expect(JSON.stringify(logged)).not.toContain("unsaved");
  });

  test("is not followed by what an edit that failed does to its state later", async () => {
    let leaked: AgentState | undefined;
    const keep = failingEdit((state) => {
      leaked = state;
    });
    const { source, asked, agent } = await turnAfter(async (agent) => {
      await keep(agent).catch(() => undefined);
      leaked?.contextMutable().push(userMessage("late"));
      if (leaked) leaked.extensions["plugin"] = "late";
    }, fused);
    expect(source).toBe("cache");
    expect(asked).toEqual(asStored);
    leaked?.contextMutable().push(userMessage("later"));
    const state = await agent.getAgentState(ctx);
    expect(outline(state)).toEqual(turns("1", "2", "3", "next"));
    expect(state?.extensions["plugin"]).toBeUndefined();
  });

  test("leaves a state that it had to load in the cache", async () => {
    const store = new InMemoryAgentStateStore({ fused });
    await agentOn(store).call("1", { ...ctx, callId: "c1" });
    const { agent, sources } = observed(store);
    await agent.call("1", { ...ctx, callId: "c1" });
    await agent.call("next", ctx);
    expect(sources).toEqual(["store", "cache"]);
  });

  test("does not leave behind what it put right on load: the store holds nothing of that", async () => {
    const store = new InMemoryAgentStateStore({ fused });
    await agentOn(store).call("1", { ...ctx, callId: "c1" });
    await agentOn(store).updateAgentState(ctx, (state) => {
      const call = { type: "tool_call", id: "open", name: "work", input: {} } as const;
      state.contextMutable().push(assistantMessage([call]));
    });
    const { agent, sources } = observed(store);
    for (let repeat = 0; repeat < 2; repeat++) await agent.call("1", { ...ctx, callId: "c1" });
    await agent.call("next", ctx);
    expect(sources).toEqual(["store", "store", "store"]);
  });

  test("does not leave behind what it salvaged of a damaged state", async () => {
    const store = new InMemoryAgentStateStore({ fused });
    await agentOn(store).call("1", ctx);
    const { head, revision } = (await loadWhole(store, slotOf())) ?? expect.fail("is stored");
    const damaged = { ...head, planModeContext: 5 } as JsonObject;
    const write = { op: "hand", expected: revision, head: damaged };
    await store.save(slotOf(), { ...write, keep: 2, replace: [], append: [] });
    const agent = agentOn(store);
    const edit = () => {
      throw refusal;
    };
    await expect(agent.updateAgentState(ctx, edit, { salvage: true })).rejects.toBe(refusal);
    await expect(agent.call("next", ctx)).rejects.toSatisfy(StateCorruptError.is);
  });
});
