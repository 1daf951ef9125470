import {
  type AgentReply,
  definePlugin,
  type ExternalResult,
  InMemoryAgentStateStore,
  InvalidInputError,
  listGuard,
  type PendingCall,
  PendingConfirmationError,
  ReActAgent,
  type ReActAgentOptions,
  suspend,
  tool,
  toolResultsOf,
} from "@holdfast/core";
import { messageBytes } from "@holdfast/core/plugin-kit";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { pairedModel, stateProblem } from "./valid-pairing.js";

const ran: string[] = [];
const outside = tool({
  name: "outside",
  description: "Runs elsewhere.",
  input: z.object({ n: z.number() }),
});
const later = tool({
  name: "later",
  description: "Its answer comes later.",
  input: z.object({ n: z.number() }),
  execute: ({ n }) => {
    ran.push(`later ${n}`);
    return suspend("printing");
  },
});
const now = tool({
  name: "now",
  description: "Answers at once.",
  input: z.object({ n: z.number() }),
  execute: ({ n }) => {
    ran.push(`now ${n}`);
    return `now ${n}`;
  },
});
const guard = definePlugin({
  name: "guard",
  contract: 1,
  setup: (host) => host.provide("toolGuard", listGuard({ ask: ["now"] })),
});
const calls = (...names: readonly string[]) => names.map((name, n) => ({ name, input: { n } }));

function pendingOf(reply: AgentReply): readonly PendingCall[] {
  return "pending" in reply ? reply.pending : [];
}

describe.each([true, false])("a tool whose answer comes from outside, fused: %s", (fused) => {
  async function waiting(names: readonly string[], options: Partial<ReActAgentOptions> = {}) {
    ran.length = 0;
    const stateStore = new InMemoryAgentStateStore({ fused });
    const model = pairedModel([{ toolCalls: calls(...names) }, "done"]);
    const make = () =>
      new ReActAgent({ name: "a", model, tools: [outside, later, now], stateStore, ...options });
    const reply = await make().call("go", { sessionId: "s" });
    const pending = pendingOf(reply);
    const answer = (results: readonly ExternalResult[]) =>
      make().call({ results }, { sessionId: "s" });
    const stored = () => stateStore.load({ agentId: "a", userId: null, sessionId: "s" });
    const results = async () =>
      ((await make().getAgentState(null, "s"))?.context ?? [])
        .flatMap(toolResultsOf)
        .map(({ state, output }) => [state, output[0]?.type === "text" ? output[0].text : ""]);
    const expectValid = async () => {
      const state = await make().getAgentState(null, "s");
      expect(state && stateProblem(state)).toBeNull();
    };
    return { make, model, reply, pending, answer, stored, results, expectValid };
  }

  test("pauses the turn, with or without a reason, while its siblings run", async () => {
    const { model, reply, pending, results, expectValid } = await waiting([
      "outside",
      "now",
      "later",
    ]);
    expect(reply.reason).toBe("tool_suspended");
    expect(pending).toMatchObject([
      { name: "outside", input: { n: 0 }, state: "suspended" },
      { name: "later", input: { n: 2 }, state: "suspended", reason: "printing" },
    ]);
    expect(ran.toSorted()).toEqual(["later 2", "now 1"]);
    expect(await results()).toEqual([["success", "now 1"]]);
    expect(model.requests).toHaveLength(1);
    await expectValid();
  });

  test("goes on with { results }, by any agent; nothing runs twice", async () => {
    const { pending, answer, results, expectValid, model } = await waiting([
      "outside",
      "now",
      "later",
    ]);
    const reply = await answer([
      { toolCallId: pending[0]?.toolCallId ?? "", output: { pages: 3 } },
      { toolCallId: pending[1]?.toolCallId ?? "", output: "paper jam", state: "error" },
    ]);
    expect(reply).toMatchObject({ reason: "stop", text: "done" });
    expect(await results()).toEqual([
      ["success", "now 1"],
      ["success", '{"pages":3}'],
      ["error", "paper jam"],
    ]);
    expect(ran.toSorted()).toEqual(["later 2", "now 1"]);
    expect(model.requests).toHaveLength(2);
    await expectValid();
  });

  test("keeps waiting for the rest when some are answered", async () => {
    const { pending, answer, model, expectValid, make } = await waiting(["outside", "outside"]);
    const partial = await answer([{ toolCallId: pending[1]?.toolCallId ?? "", output: "second" }]);
    expect(partial.reason).toBe("tool_suspended");
    expect(pendingOf(partial)).toMatchObject([
      { toolCallId: pending[0]?.toolCallId, state: "suspended" },
    ]);
    expect(model.requests).toHaveLength(1);
    await expectValid();
    await expect(make().call("hello?", { sessionId: "s" })).rejects.toMatchObject({
      toolCallIds: [pending[0]?.toolCallId],
    });
    expect(
      (await answer([{ toolCallId: pending[0]?.toolCallId ?? "", output: "first" }])).text,
    ).toBe("done");
    await expectValid();
  });

  test("refuses plain input and wrong answers, and nothing changes", async () => {
    const { make, pending, answer, stored } = await waiting(["outside", "outside"]);
    const toolCallId = pending[0]?.toolCallId ?? "";
    const before = await stored();
    await expect(make().call("hello?", { sessionId: "s" })).rejects.toSatisfy(
      PendingConfirmationError.is,
    );
    for (const wrong of [
      [{ toolCallId: "nobody", output: "x" }],
      [
        { toolCallId, output: "x" },
        { toolCallId: "nobody", output: "x" },
      ],
      [
        { toolCallId, output: "x" },
        { toolCallId, output: "y" },
      ],
      [{ toolCallId, output: Number.NaN }],
      [{ toolCallId, output: "x", state: "great" as never }],
    ])
      await expect(answer(wrong), JSON.stringify(wrong)).rejects.toSatisfy(InvalidInputError.is);
    const confirm = [{ toolCallId, approve: true }];
    await expect(make().call({ confirm }, { sessionId: "s" })).rejects.toSatisfy(
      InvalidInputError.is,
    );
    expect(await stored()).toEqual(before);
  });

  test("may answer more than one message may hold: cut in the context, whole in the log", async () => {
    const stateStore = new InMemoryAgentStateStore({ fused });
    const limits = { messageBytes: 20_000 };
    const { make, pending, answer } = await waiting(["outside"], { stateStore, limits });
    const long = "x".repeat(60_000);
    await answer([{ toolCallId: pending[0]?.toolCallId ?? "", output: long }]);
    const state = await make().getAgentState(null, "s");
    for (const message of state?.context ?? []) expect(messageBytes(message)).toBeLessThan(20_000);
    const slot = { agentId: "a", userId: null, sessionId: "s" };
    const records = await stateStore.companions().log.read(slot);
    const [logged] = records.flatMap(({ message }) => (message ? toolResultsOf(message) : []));
    expect(logged?.output).toEqual([{ type: "text", text: long }]);
  });

  test("waits behind one that asks: first the person, then the answer from outside", async () => {
    const options = { plugins: [guard] };
    const { make, reply, pending, answer, model, results, expectValid } = await waiting(
      ["outside", "now", "later"],
      options,
    );
    expect(reply.reason).toBe("permission_asking");
    expect(pending.map(({ name }) => name)).toEqual(["now"]);
    expect((await make().pending(null, "s")).map(({ name, state }) => [name, state])).toEqual([
      ["outside", "suspended"],
      ["now", "asking"],
      ["later", "suspended"],
    ]);
    expect(ran).toEqual(["later 2"]);
    await expectValid();
    const confirm = [{ toolCallId: pending[0]?.toolCallId ?? "", approve: true }];
    const approved = await make().call({ confirm }, { sessionId: "s" });
    expect(approved.reason).toBe("tool_suspended");
    expect(pendingOf(approved).map(({ name }) => name)).toEqual(["outside", "later"]);
    expect(ran.toSorted()).toEqual(["later 2", "now 1"]);
    await expectValid();
    const last = await answer(
      pendingOf(approved).map(({ toolCallId, name }) => ({ toolCallId, output: name })),
    );
    expect(last.text).toBe("done");
    expect(await results()).toEqual([
      ["success", "now 1"],
      ["success", "outside"],
      ["success", "later"],
    ]);
    expect(ran).toHaveLength(2);
    expect(model.requests).toHaveLength(2);
  });

  test("may be answered by an onActing hook; then nothing waits", async () => {
    const { reply, results, expectValid } = await waiting(["outside"], {
      middleware: [
        {
          name: "answering",
          onActing: async ({ calls: open }, next) => [
            ...(await next()),
            ...open.map(({ id: toolCallId, name }) => ({
              type: "tool_result" as const,
              toolCallId,
              name,
              state: "success" as const,
              output: [{ type: "text" as const, text: "from the hook" }],
            })),
          ],
        },
      ],
    });
    expect(reply.reason).toBe("stop");
    expect(await results()).toEqual([["success", "from the hook"]]);
    await expectValid();
  });

  test("is closed by an interrupt of the idle session, and the next plain call works", async () => {
    const { make, results, expectValid } = await waiting(["outside", "now"]);
    expect(await make().interrupt({ sessionId: "s" }, "Too late.")).toBe("closed_asks");
    expect((await results()).map(([state]) => state)).toEqual(["success", "interrupted"]);
    await expectValid();
    expect((await make().call("go on", { sessionId: "s" })).text).toBe("done");
  });
});
