import { InMemoryAgentStateStore, type Middleware, tool, toolResultsOf } from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { agentOn } from "./agent-on.js";
import { door } from "./door.js";

const ctx = { sessionId: "s" };
const input = z.object({});
const failing = async () => {
  throw new Error("no");
};

describe.each([true, false])("a failed call tells the model of its tools, fused: %s", (fused) => {
  async function textAfter(options: {
    readonly middleware?: Middleware;
    readonly needsApproval?: () => Promise<boolean>;
    readonly execute?: () => unknown;
  }): Promise<string | undefined> {
    const { middleware, needsApproval, execute = () => "ran" } = options;
    const pay = tool({ name: "pay", description: "Pays.", input, needsApproval, execute });
    const agent = agentOn(new InMemoryAgentStateStore({ fused }), {
      model: scriptedModel([{ toolCalls: [{ name: "pay", input: {} }] }]),
      tools: [pay],
      middleware: middleware ? [middleware] : [],
    });
    await expect(agent.call("go", ctx)).rejects.toThrow();
    const state = await agent.getAgentState(null, "s");
    const [output] = (state?.context ?? []).flatMap(toolResultsOf).flatMap((one) => one.output);
    return output?.type === "text" ? output.text : undefined;
  }

  test.each([
    ["onActing", { name: "m", onActing: failing }],
    ["onToolCall", { name: "m", onToolCall: failing }],
  ] as const)("not run, when a hook %s failed before it", async (_name, middleware) => {
    expect(await textAfter({ middleware })).toMatch(/was not run/);
  });

  test("not run, when its check failed", async () => {
    expect(await textAfter({ needsApproval: failing })).toMatch(/was not run/);
  });

  test("outcome unknown, when the hook failed after it", async () => {
    const middleware: Middleware = {
      name: "m",
      onToolCall: async (_step, next) => {
        await next();
        throw new Error("no");
      },
    };
    const text = await textAfter({ middleware });
    // What it did stays known where the engine has it.
    expect(text).not.toMatch(/was not run/);
  });

  test("not run, when the call was stopped while an approval was looked up", async () => {
    const looking = door();
    const pay = tool({
      name: "pay",
      description: "Pays.",
      input,
      needsApproval: () => {
        looking.open();
        return new Promise<boolean>(() => undefined);
      },
      execute: () => "ran",
    });
    const agent = agentOn(new InMemoryAgentStateStore({ fused }), {
      model: scriptedModel([{ toolCalls: [{ name: "pay", input: {} }] }]),
      tools: [pay],
    });
    const call = agent.call("go", ctx);
    await looking.opened;
    await agent.interrupt(null, "s");
    expect((await call).reason).toBe("interrupted");
    const state = await agent.getAgentState(null, "s");
    const results = (state?.context ?? []).flatMap(toolResultsOf);
    expect(JSON.stringify(results)).toMatch(/was not run/);
  });
});

test("a tool call that a hook makes has an id of its own, as those of a model have", async () => {
  const ids: (string | undefined)[] = [];
  const pay = tool({
    name: "pay",
    description: "Pays.",
    input,
    execute: (_input, { toolCallId }) => {
      ids.push(toolCallId);
      return "paid";
    },
  });
  const calling: Middleware = {
    name: "calling",
    onReasoning: async ({ iteration }, next) => {
      const reply = await next();
      if (iteration > 0) return reply;
      const call = { type: "tool_call", id: "call_0", name: "pay", input: {} } as const;
      return { ...reply, content: [call, call] };
    },
  };
  const agent = agentOn(new InMemoryAgentStateStore(), { tools: [pay], middleware: [calling] });
  for (const sessionId of ["a", "b"]) await agent.call("go", { sessionId });
  expect(new Set(ids).size).toBe(4);
  expect(ids).not.toContain("call_0");
});

test("a repeated call is answered with the file that was too large for the context", async () => {
  const data = "A".repeat(1_500_000);
  const model = {
    id: "painter",
    async *stream() {
      const source = { kind: "base64", data } as const;
      yield { type: "text_delta", text: "here it is" } as const;
      yield { type: "data", mediaType: "image/png", source } as const;
      const usage = { inputTokens: 1, outputTokens: 1 };
      yield { type: "finish", reason: "stop", usage } as const;
    },
  };
  const agent = agentOn(new InMemoryAgentStateStore(), { model });
  const named = { ...ctx, callId: "paint" };
  const first = await agent.call("paint", named);
  const again = await agent.call("paint", named);
  expect(again.text).toBe("here it is");
  expect(again.message.content).toEqual(first.message.content);
  const kept = (await agent.getAgentState(null, "s"))?.context.at(-1);
  expect(JSON.stringify(kept).length).toBeLessThan(10_000);
});
