import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  type AgentEvent,
  definePlugin,
  type Middleware,
  type ModelCallStep,
  type Plugin,
  type PluginHost,
  ReActAgent,
  tool,
  userMessage,
} from "@holdfast/core";
import type { PluginQuestion } from "@holdfast/core/plugin-kit";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";

const slot = { agentId: "guide", userId: "alice", sessionId: "s" };
const question = (from: PluginQuestion["from"], model = scriptedModel(["Blue."])) => ({
  ...{ from, model, purpose: "colour", maxChars: 100, signal: new AbortController().signal },
  request: { system: "", messages: [userMessage("Which colour?")], tools: [] },
});

function watching(seen: ModelCallStep[]): Middleware {
  return {
    name: "watching",
    onModelCall(step, next) {
      seen.push(step);
      return next();
    },
  };
}

function plugin(setup: (host: PluginHost) => void): Plugin {
  return definePlugin({ name: "asking", contract: 1, setup });
}

describe("host.askModel", () => {
  test("in a call shows hooks the state, run and context of the call, and counts towards its usage", async () => {
    const seen: ModelCallStep[] = [];
    const runs: string[] = [];
    const usage = { inputTokens: 5, outputTokens: 2 };
    const agent = new ReActAgent({
      ...{ name: "guide", model: scriptedModel([{ text: "Hello.", usage }]) },
      middleware: [watching(seen)],
      plugins: [
        plugin((host) =>
          host.use({
            name: "asking",
            async onCall(step, next) {
              runs.push(step.runId);
              const model = scriptedModel([{ text: "Blue.", usage }], { id: "other" });
              const answer = await host.askModel(question(step, model));
              expect(answer).toMatchObject({ text: "Blue.", usage });
              return next();
            },
          }),
        ),
      ],
    });
    const reply = await agent.call("Hi", { userId: "alice", sessionId: "s" });

    expect(seen.map(({ purpose, model }) => [purpose, model.id])).toEqual([
      ["colour", "other"],
      ["reasoning", "scripted"],
    ]);
    for (const step of seen) {
      expect(step.slot).toEqual(slot);
      expect(step.state?.sessionId).toBe("s");
      expect(step.runId).toBe(runs[0]);
      expect(step.ctx.userId).toBe("alice");
      expect(step.mark).not.toBeNull();
    }
    expect(reply.usage).toMatchObject({ inputTokens: 10, outputTokens: 4 });
  });

  test("in the background shows them the session, and no state", async () => {
    const seen: ModelCallStep[] = [];
    const events: AgentEvent[] = [];
    const agent = new ReActAgent({
      ...{ name: "guide", model: scriptedModel([]), middleware: [watching(seen)] },
      onEvent: (event) => void events.push(event),
      plugins: [
        plugin((host) =>
          host.onStart(async () => void (await host.askModel(question({ slot, callId: "work" })))),
        ),
      ],
    });
    await agent.ready();

    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatchObject({ slot, state: null, runId: null, mark: null });
    expect(seen[0]?.ctx).toMatchObject({ userId: "alice", sessionId: "s", callId: "work" });
    expect(events).toMatchObject([
      { type: "model_call_start", purpose: "colour", callId: "work", slot, background: true },
      { type: "model_call_end", requestId: seen[0]?.requestId, background: true },
    ]);
  });

  test("sends the request as the hooks leave it, and each attempt through them", async () => {
    let attempts = 0;
    const model = scriptedModel(["Green."]);
    const agent = new ReActAgent({
      ...{ name: "guide", model: scriptedModel([]) },
      middleware: [
        {
          name: "rewriting",
          async *onModelCall(step, next) {
            step.request = { ...step.request, system: `attempt ${++attempts}` };
            if (attempts > 1) yield* next();
            else
              yield { type: "finish", reason: "error", usage: { inputTokens: 0, outputTokens: 0 } };
          },
        },
      ],
      plugins: [
        plugin((host) =>
          host.onStart(async () => {
            const answer = await host.askModel(question({ slot, callId: "work" }, model));
            expect(answer.text).toBe("Green.");
          }),
        ),
      ],
    });
    await agent.ready();
    expect(model.requests.map(({ system }) => system)).toEqual(["attempt 2"]);
  });

  test("is refused by name before the agent is built", async () => {
    let asked: Promise<unknown> = Promise.resolve();
    const asking = plugin((host) => {
      asked = host.askModel(question({ slot, callId: "work" }));
      asked.catch(() => undefined);
    });
    new ReActAgent({ name: "guide", model: scriptedModel([]), plugins: [asking] });
    await expect(asked).rejects.toThrow('plugin "asking" asks a model before the agent is built');
  });
});

test("hooks see structured output and the last explanation too", async () => {
  const seen: ModelCallStep[] = [];
  const again = tool({
    ...{ name: "again", description: "Does it again.", input: z.object({}), execute: () => "done" },
  });
  const model = scriptedModel((request) =>
    request.tools.some(({ name }) => name === "again")
      ? { toolCalls: [{ name: "again", input: {} }] }
      : "I did it once.",
  );
  const agent = new ReActAgent({
    ...{ name: "guide", model, tools: [again], maxIterations: 1, middleware: [watching(seen)] },
  });
  await agent.call("Go on", { sessionId: "s" });
  expect(seen.map(({ purpose }) => purpose)).toEqual(["reasoning", "explanation"]);

  const native = new ReActAgent({
    name: "native",
    model: scriptedModel(['{"colour":"blue"}'], { structuredOutput: true }),
    middleware: [watching(seen)],
  });
  await native.call("Which?", { sessionId: "s", output: z.object({ colour: z.string() }) });
  expect(seen.at(-1)?.purpose).toBe("reasoning");
  expect(seen.at(-1)?.request.output).toBeDefined();
});

test("no plugin of Holdfast asks a model past the hooks", () => {
  const packages = fileURLToPath(new URL("../../packages", import.meta.url));
  const plugins = ["compaction", "eviction", "memory-flush", "session-tools", "mcp", "workspace"];
  const past = [...plugins, "otel", "sandbox", "harness"].flatMap((name) =>
    readdirSync(join(packages, name, "src"), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .filter((file) => {
        const source = readFileSync(join(packages, name, "src", file), "utf8");
        return /import [^;]*\baskModel\b[^;]* from|\bmodel\.stream\(/.test(source);
      })
      .map((file) => `${name}/${file}`),
  );
  expect(past).toEqual([]);
});
