import {
  type AgentReply,
  AgentState,
  assistantMessage,
  ConfigurationError,
  definePlugin,
  InMemoryAgentStateStore,
  type JsonValue,
  listGuard,
  type PermissionMode,
  ReActAgent,
  type ReActAgentOptions,
  RuntimeContext,
  type ToolDecision,
  type ToolGuard,
  textOf,
  tool,
  toolCallsOf,
  toolResultMessage,
  toolResultsOf,
  userMessage,
} from "@holdfast/core";
import {
  describePlugin,
  describeToolGuard,
  fakePluginHost,
  scriptedModel,
} from "@holdfast/testing";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { type LoopGuardOptions, loopGuard } from "../src/index.js";

const look = tool({
  name: "look",
  description: "Looks at a thing.",
  input: z.looseObject({}),
  execute: () => "nothing",
});
const poll = tool({ ...look, name: "job_status" });

type Calls = readonly { readonly name: string; readonly input: JsonValue }[];
const same: Calls = [{ name: "look", input: { at: "door", deep: { a: 1, b: [2] } } }];
const reordered: Calls = [{ name: "look", input: { deep: { b: [2], a: 1 }, at: "door" } }];
const other: Calls = [{ name: "look", input: { at: "window" } }];

/** Agent whose model calls these tools, one message after the other, and then says "Done." */
function agentThat(
  messages: readonly Calls[],
  options: LoopGuardOptions = {},
  more: Partial<ReActAgentOptions> = {},
) {
  const replies = [...messages];
  const model = scriptedModel(() => {
    const toolCalls = replies.shift();
    return toolCalls ? { toolCalls } : "Done.";
  });
  const agent = new ReActAgent({
    ...{ name: "guide", model, tools: [look, poll], plugins: [loopGuard(options)] },
    ...more,
  });
  onTestFinished(() => agent.close());
  return { agent, model, say: (text: string) => agent.call(text, session) };
}

/** Asks about every call, so that a person can deny them. */
const asking = definePlugin({
  name: "asking",
  contract: 1,
  setup: (host) => host.provide("toolGuard", listGuard({ ask: ["look"] })),
});

const session = { userId: "alice", sessionId: "s" };

function approving(reply: AgentReply, approve = true) {
  if (reply.reason !== "permission_asking") throw new Error(`the call ended with ${reply.reason}`);
  return { confirm: reply.pending.map(({ toolCallId }) => ({ toolCallId, approve })) };
}

/** States of all tool results in the session, oldest first. */
async function resultsOf(agent: ReActAgent): Promise<readonly string[]> {
  const state = await agent.getAgentState(session);
  return (state?.context ?? []).flatMap(toolResultsOf).map(({ state: result }) => result);
}

describe("loopGuard", () => {
  test("asks about the third equal call in a row, whatever the order of keys", async () => {
    const { agent, say } = agentThat([same, reordered, same]);
    const reply = await say("Look");
    expect(reply).toMatchObject({ reason: "permission_asking" });
    const [pending, ...rest] = await agent.pending(session);
    expect(rest).toEqual([]);
    expect(pending).toMatchObject({ name: "look", reason: expect.stringContaining("3 times") });
    expect(pending?.suggestions).toBeUndefined();
    expect(await resultsOf(agent)).toEqual(["success", "success"]);
  });

  test.each([
    ["another call is in between", [same, same, other, same, same]],
    ["the inputs differ", [same, other, same, other, same, other]],
  ])("asks nothing when %s", async (_, messages) => {
    const { agent, say } = agentThat(messages);
    expect((await say("Look")).reason).toBe("stop");
    expect(await resultsOf(agent)).toEqual(messages.map(() => "success"));
  });

  test("counts the calls of one message in their order", async () => {
    const { agent, say } = agentThat([[...same, ...same, ...same]]);
    const reply = await say("Look");
    expect(reply.reason).toBe("permission_asking");
    const calls = toolCallsOf(reply.message);
    expect((await agent.pending(session)).map(({ toolCallId }) => toolCallId)).toEqual([
      calls[2]?.id,
    ]);
    expect(await resultsOf(agent)).toEqual(["success", "success"]);
  });

  test("asks again about the next one after an approval, in another process too", async () => {
    const stateStore = new InMemoryAgentStateStore();
    const first = agentThat([same, same, same], {}, { stateStore });
    const asked = await first.say("Look");
    await first.agent.close();
    const second = agentThat([same, other], {}, { stateStore });
    const again = await second.agent.call(approving(asked), session);
    expect(again.reason).toBe("permission_asking");
    expect(await resultsOf(second.agent)).toEqual(["success", "success", "success"]);
    expect((await second.agent.pending(session))[0]?.reason).toContain("4 times");
    expect((await second.agent.call(approving(again), session)).reason).toBe("stop");
  });

  test("checks an edited input anew: a different one is no repetition", async () => {
    const { agent, say } = agentThat([same, same, same, same]);
    const asked = approving(await say("Look"));
    const confirm = asked.confirm.map((one) => ({ ...one, input: { at: "roof" } }));
    // The fourth call follows one about the roof, so that it is the first of its kind.
    expect((await agent.call({ confirm }, session)).reason).toBe("stop");
    expect(await resultsOf(agent)).toEqual(Array(4).fill("success"));
  });

  test("starts over when the user speaks", async () => {
    const stateStore = new InMemoryAgentStateStore();
    await agentThat([same, same], {}, { stateStore }).say("Look");
    const { agent, say } = agentThat([same, same], {}, { stateStore });
    expect((await say("And now?")).reason).toBe("stop");
    expect(await resultsOf(agent)).toEqual(Array(4).fill("success"));
  });

  test("starts over when a compaction has cut the earlier calls away", async () => {
    const { agent, say } = agentThat(
      [same, same, same, same],
      {},
      {
        middleware: [
          {
            name: "forgetful",
            async onReasoning({ state, iteration }, next) {
              if (iteration === 2) {
                state.contextMutable().splice(0, state.context.length - 2);
                state.summary = "They looked at the door.";
              }
              return next();
            },
          },
        ],
      },
    );
    // Of the first two calls one is left; with the next two there are three in a row again.
    expect((await say("Look")).reason).toBe("permission_asking");
    expect((await agent.getAgentState(session))?.summary).not.toBeNull();
    expect(await resultsOf(agent)).toEqual(["success", "success"]);
  });

  test.each<[string, LoopGuardOptions, PermissionMode]>([
    ["in mode dont_ask", {}, "dont_ask"],
    ["with decision deny", { decision: "deny" }, "default"],
  ])("denies %s, and ends the turn after three denials", async (_, options, mode) => {
    const { agent, model, say } = agentThat(Array(9).fill(same), options);
    await agent.updateAgentState(session, (state) => {
      state.permissionContext = { ...state.permissionContext, mode };
    });
    const reply = await say("Look");
    expect(reply.reason).toBe("middleware_stop");
    expect(textOf(reply.message)).toContain("look was denied 3 times in a row");
    expect(await resultsOf(agent)).toEqual(["success", "success", "denied", "denied", "denied"]);
    expect(model.requests).toHaveLength(5);
    const state = await agent.getAgentState(session);
    expect(state?.openCalls).toEqual({});
    expect(state?.context.at(-1)?.role).toBe("assistant");
  });

  test("ends a turn in which a person denied the same call three times, and no sooner", async () => {
    const stop = agentThat(Array(5).fill(same), {}, { plugins: [loopGuard(), asking] });
    let reply = await stop.say("Look");
    for (let denial = 1; denial <= 3; denial++) {
      expect(reply.reason).toBe("permission_asking");
      reply = await stop.agent.call(approving(reply, false), session);
    }
    expect(reply.reason).toBe("middleware_stop");
    // The user's next message begins another turn.
    expect((await stop.say("Try again")).reason).toBe("permission_asking");
  });

  test("leaves excluded tools alone", async () => {
    const polls: Calls = [{ name: "job_status", input: {} }];
    const { say } = agentThat(Array(6).fill(polls), { exclude: ["job_*"] });
    expect((await say("Wait for the job")).reason).toBe("stop");
  });

  test("refuses options that it does not know or that make no sense", () => {
    expect(() => loopGuard({ times: 1 })).toThrow(ConfigurationError);
    expect(() => loopGuard({ denials: 0 })).toThrow(/denials/);
    expect(() => loopGuard({ time: 3 } as LoopGuardOptions)).toThrow(/times/);
  });

  test("decides as a count over any sequence of calls does", async () => {
    const guard = guardOf({ times: 3 });
    const item = fc.constantFrom("a", "b", "says");
    await fc.assert(
      fc.asyncProperty(fc.array(item, { maxLength: 12 }), async (items) => {
        const state = AgentState.create(session);
        const ctx = RuntimeContext.of(session);
        ctx.agentState = state;
        let run = 0;
        let last = "";
        for (const [index, what] of items.entries()) {
          run = what === last ? run + 1 : 1;
          last = what;
          if (what === "says") {
            state.contextMutable().push(userMessage("Go on"));
            run = 0;
            continue;
          }
          const id = `c-${index}`;
          const call = { type: "tool_call", id, name: "look", input: { what } } as const;
          state.contextMutable().push(assistantMessage([call]));
          const slot = { agentId: "guide", ...session };
          const asked = { call, tool: look, input: call.input, slot, ctx };
          const { decision } = await guard.check({ ...asked, remembered: async () => [] });
          expect(decision).toBe(run >= 3 ? "ask" : "allow");
          const result = { toolCallId: id, name: "look", output: [], state: "success" } as const;
          state.contextMutable().push(toolResultMessage({ type: "tool_result", ...result }));
        }
      }),
    );
  });
});

function guardOf(options: LoopGuardOptions = {}): ToolGuard {
  const { toolGuard } = fakePluginHost().install(loopGuard(options)).provided;
  if (!toolGuard) throw new Error("the plugin provides no guard");
  return toolGuard;
}

/** Puts two equal calls before the one that the suite asks about, which is the third. */
function twiceBefore(input: JsonValue, mode?: "dont_ask") {
  return (state: AgentState): void => {
    if (mode) state.permissionContext = { ...state.permissionContext, mode };
    state.contextMutable().push(userMessage("Look"));
    for (const id of ["b-0", "b-1", "c-0"])
      state
        .contextMutable()
        .push(assistantMessage([{ type: "tool_call", id, name: "look", input }]));
  };
}

describe.each<[string, "dont_ask" | undefined, ToolDecision["decision"]]>([
  ["the loop guard that asks", undefined, "ask"],
  ["the loop guard that denies", "dont_ask", "deny"],
])("%s", (name, mode, decision) => {
  describeToolGuard(name, {
    create: () => guardOf(),
    calls: [{ tool: look, input: { at: "door" }, decision }],
    prepare: twiceBefore({ at: "door" }, mode),
  });
});

describePlugin("loopGuard", { create: () => loopGuard() });
