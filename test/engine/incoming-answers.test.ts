import { type Middleware, textOf, userMessage } from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { agentsWithSecrets, calling, guard, redaction, type Seen } from "./agents-with-secrets.js";
import { door } from "./door.js";
import { stallingModel } from "./models.js";

describe.each([true, false])("onIncoming of interrupts, answers and edits, fused: %s", (fused) => {
  const make = agentsWithSecrets(fused);

  test("changes the message of an interrupt before inbox, context and log have it", async () => {
    const seen: Seen[] = [];
    const reached = door();
    const { agent, stored } = make([], [redaction(seen)], {
      model: stallingModel("", reached.open),
    });
    const running = agent.call("go", { callId: "c-1" });
    await reached.opened;
    expect(await agent.interrupt({ sessionId: "default" }, "stop, secret")).toBe("stopped");
    await running;
    expect(seen.map(({ step: { origin, callId } }) => [origin, callId])).toEqual([
      ["input", "c-1"],
      ["interrupt", "c-1"],
    ]);
    expect(await stored()).not.toContain("secret");
    expect((await agent.getAgentState())?.context.map(textOf)).toContain("stop, [hidden]");
  });

  test("a hook that refuses the message of an interrupt stops nothing, and nothing is stored", async () => {
    const [reached, release] = [door(), door()];
    const refusing: Middleware = {
      name: "m",
      onIncoming(message, { origin }) {
        if (origin === "interrupt") throw new Error("not allowed");
        return message;
      },
    };
    const { agent, stored } = make([], [refusing], {
      model: scriptedModel(async () => {
        reached.open();
        await release.opened;
        return "answer";
      }),
    });
    const running = agent.call("go");
    await reached.opened;
    await expect(agent.interrupt({ sessionId: "default" }, "a secret")).rejects.toThrow(
      "not allowed",
    );
    release.open();
    expect(await running).toMatchObject({ reason: "stop", text: "answer" });
    expect(await stored()).not.toContain("secret");
  });

  test("changes the message of an interrupt that only closes what asks", async () => {
    const { agent, stored } = make([calling("tells")], [redaction()], { plugins: [guard] });
    expect((await agent.call("go")).reason).toBe("permission_asking");
    expect(await agent.interrupt({ sessionId: "default" }, "no, secret")).toBe("closed_asks");
    expect(await stored()).not.toContain("secret");
    expect(await stored()).toContain("no, [hidden]");
  });

  test("changes { results } before anything stores them, and knows their calls", async () => {
    const seen: Seen[] = [];
    const { agent, stored } = make([calling("waits"), "done"], [redaction(seen)]);
    const reply = await agent.call("go");
    const toolCallId = "pending" in reply ? (reply.pending[0]?.toolCallId ?? "") : "";
    await agent.call({ results: [{ toolCallId, output: { paid: "secret" } }] });
    const { message, step } = seen.at(-1) as (typeof seen)[number];
    expect(step).toMatchObject({ origin: "results", call: { id: toolCallId, name: "waits" } });
    expect(step.tool?.name).toBe("waits");
    expect(message.content[0]).toMatchObject({ type: "tool_result", toolCallId, name: "waits" });
    expect(await stored()).not.toContain("secret");
    expect(await stored()).toContain("[hidden]");
    expect(seen).toHaveLength(2);
  });

  test("runs on { results } of a call that the session does not have", async () => {
    const seen: Seen[] = [];
    const { agent, stored } = make([], [redaction(seen)]);
    const results = [{ toolCallId: "early", output: "a secret" }];
    await expect(agent.call({ results })).rejects.toMatchObject({ code: "INVALID_INPUT" });
    expect(seen[0]?.step.call).toBe(undefined);
    expect(await stored()).not.toContain("secret");
  });

  test("changes what a confirmation brings: an edited input, and the reason of a denial", async () => {
    const seen: Seen[] = [];
    const script = [calling("tells"), "done", calling("tells"), "done"];
    const { agent, stored } = make(script, [redaction(seen)], { plugins: [guard] });
    const ask = async () => {
      const reply = await agent.call("go");
      return "pending" in reply ? (reply.pending[0]?.toolCallId ?? "") : "";
    };
    const first = await ask();
    await agent.call({
      confirm: [{ toolCallId: first, approve: true, input: { say: "secret A" } }],
    });
    const second = await ask();
    await agent.call({ confirm: [{ toolCallId: second, approve: false, reason: "secret B" }] });
    const confirmed = seen.filter(({ step }) => step.origin === "confirm");
    expect(confirmed.map(({ message }) => [message.role, message.content])).toMatchObject([
      ["assistant", [{ type: "tool_call", id: first, name: "tells", input: { say: "secret A" } }]],
      ["tool", [{ type: "tool_result", toolCallId: second, name: "tells", state: "denied" }]],
    ]);
    const text = await stored();
    expect(text).not.toContain("secret");
    expect(text).toContain("[hidden] is [hidden] A");
    expect(text).toContain("The user denied this call. [hidden] B");
  });

  test("changes messages that updateAgentState adds, however it adds them", async () => {
    const seen: Seen[] = [];
    const { agent, stored } = make(["hello"], [redaction(seen)]);
    const session = { sessionId: "default" };
    await agent.call("go");
    seen.length = 0;
    await agent.updateAgentState(session, (state) => {
      state.contextMutable().push(userMessage("pushed secret"));
      state.contextMutable().splice(0, 0, userMessage("spliced secret"));
    });
    await agent.updateAgentState(session, (state) => {
      const copy = state.copy();
      copy.contextMutable().push(userMessage("returned secret"));
      return copy;
    });
    expect(seen.map(({ step, message }) => [step.origin, textOf(message)])).toEqual([
      ["update", "spliced secret"],
      ["update", "pushed secret"],
      ["update", "returned secret"],
    ]);
    expect(await stored()).not.toContain("secret");
    expect((await agent.getAgentState())?.context.map(textOf)).toEqual([
      "spliced [hidden]",
      "go",
      "hello",
      "pushed [hidden]",
      "returned [hidden]",
    ]);
    const log = await stored();
    expect(log.split("pushed [hidden]")).toHaveLength(3);
    expect(log.split("returned [hidden]")).toHaveLength(3);
  });
});
