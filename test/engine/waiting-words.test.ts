import {
  InMemoryAgentStateStore,
  PendingConfirmationError,
  tool,
  userMessage,
} from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { agentOn } from "./agent-on.js";
import { outline } from "./conversation.js";
import { door } from "./door.js";

const ctx = { sessionId: "s" };

describe.each([true, false])("words for a call that waits for its turn, fused: %s", (fused) => {
  /** One call runs until it is let go, and two wait behind it. */
  async function threeCalls() {
    const [reached, release, waiting] = [door(), door(), door()];
    const model = scriptedModel(async (_request, index) => {
      if (index === 0) {
        reached.open();
        await release.opened;
      }
      return `answer ${index + 1}`;
    });
    let waits = 0;
    const agent = agentOn(new InMemoryAgentStateStore({ fused }), {
      model,
      onEvent: ({ type }) => type === "queue_wait" && ++waits === 2 && waiting.open(),
    });
    const calls = [agent.call("one", ctx)];
    await reached.opened;
    calls.push(agent.call("two", ctx), agent.call("three", { ...ctx, callId: "third" }));
    await waiting.opened;
    return { agent, model, calls, release };
  }

  test("an interrupt's message is said once, behind the words of its call", async () => {
    const { agent, model, calls, release } = await threeCalls();
    await agent.interrupt(null, "s", "never mind", { callId: "third" });
    release.open();
    const replies = await Promise.all(calls);
    expect(replies.map(({ reason }) => reason)).toEqual(["stop", "stop", "interrupted"]);
    expect(outline(model.requests[1]?.messages)).not.toContain("user: never mind");
    expect(outline(await agent.getAgentState(null, "s"))).toEqual([
      "user: one",
      "assistant: answer 1",
      "user: two",
      "assistant: answer 2",
      "user: three",
      "user: never mind",
    ]);
  });

  test("what it is steered with is not taken by the call before it", async () => {
    const { agent, model, calls, release } = await threeCalls();
    await agent.steer(null, "s", "be brief", { callId: "third" });
    release.open();
    await Promise.all(calls);
    expect(outline(model.requests[1]?.messages)).not.toContain("user: be brief");
    expect(outline(model.requests[2]?.messages)).toContain("user: be brief");
  });

  test("a call that is interrupted in the queue and then refused rejects, and what asks still asks", async () => {
    const [reached, release, waits] = [door(), door(), door()];
    const pay = tool({
      name: "pay",
      description: "Pays.",
      input: z.object({}),
      needsApproval: true,
      execute: () => "paid",
    });
    const model = scriptedModel(async () => {
      reached.open();
      await release.opened;
      return { toolCalls: [{ name: "pay", input: {} }] };
    });
    const agent = agentOn(new InMemoryAgentStateStore({ fused }), {
      model,
      tools: [pay],
      onEvent: ({ type }) => type === "queue_wait" && waits.open(),
    });
    const asking = agent.call("pay", ctx);
    await reached.opened;
    const refused = agent.call("two", { ...ctx, callId: "second" });
    const outcome = expect(refused).rejects.toSatisfy(PendingConfirmationError.is);
    await waits.opened;
    await agent.interrupt(null, "s", undefined, { callId: "second" });
    release.open();
    expect((await asking).reason).toBe("permission_asking");
    await outcome;
    expect(await agent.pending(null, "s")).toHaveLength(1);
  });

  test("an input larger than a session may be is refused, and the session goes on", async () => {
    const model = scriptedModel(() => "ok");
    const agent = agentOn(new InMemoryAgentStateStore({ fused }), { model });
    const flood = Array.from({ length: 10 }, () => userMessage("x".repeat(900_000)));
    await expect(agent.call(flood, ctx)).rejects.toMatchObject({ code: "TOO_LARGE" });
    expect(model.requests).toHaveLength(0);
    expect((await agent.getAgentState(null, "s"))?.context ?? []).toEqual([]);
    expect((await agent.call("hi", ctx)).text).toBe("ok");
  });
});

test.each([true, false])(
  "calls keep their order, named or not, with an event feed: %s",
  async (eventFeed) => {
    const model = scriptedModel(() => "ok");
    const agent = agentOn(new InMemoryAgentStateStore(), { model, eventFeed });
    await Promise.all(
      ["1", "2", "3", "4"].map((text, at) =>
        agent.call(text, { ...ctx, ...(at % 2 === 0 && { callId: `call ${text}` }) }),
      ),
    );
    const said = outline(await agent.getAgentState(null, "s")).filter((line) => /^user/.test(line));
    expect(said).toEqual(["user: 1", "user: 2", "user: 3", "user: 4"]);
  },
);
