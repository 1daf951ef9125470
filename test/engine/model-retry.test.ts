import {
  type AgentEvent,
  InMemoryAgentStateStore,
  ModelError,
  ReActAgent,
  textOf,
} from "@holdfast/core";
import { eventually } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { chunkModel, finish, type ScriptedStream, text } from "./chunk-model.js";
import { pairedModel } from "./valid-pairing.js";

const atOnce = { baseDelayMs: 0 };
const busy = () => new ModelError("busy", { retryable: true });

describe.each([true, false])("a failing model, fused: %s", (fused) => {
  const store = () => new InMemoryAgentStateStore({ fused });

  test("is asked three times in all when the error is retryable", async () => {
    const model = pairedModel([{ error: busy() }, { error: busy() }, "third time lucky"]);
    const agent = new ReActAgent({ name: "a", model, stateStore: store(), modelRetry: atOnce });
    expect((await agent.call("hi")).text).toBe("third time lucky");
    const state = await agent.getAgentState();
    expect(state?.context.map(textOf)).toEqual(["hi", "third time lucky"]);
  });

  test("fails the call with its own error after the third attempt, input kept", async () => {
    const error = busy();
    const model = pairedModel(() => ({ error }));
    const agent = new ReActAgent({ name: "a", model, stateStore: store(), modelRetry: atOnce });
    await expect(agent.call("hi")).rejects.toBe(error);
    expect(model.requests).toHaveLength(3);
    const state = await agent.getAgentState();
    expect(state?.context.map(textOf)).toEqual(["hi"]);
  });

  test("is asked as often as modelRetry.attempts says", async () => {
    const model = pairedModel(() => ({ error: busy() }));
    const modelRetry = { ...atOnce, attempts: 5 };
    const agent = new ReActAgent({ name: "a", model, stateStore: store(), modelRetry });
    await expect(agent.call("hi")).rejects.toSatisfy(ModelError.is);
    expect(model.requests).toHaveLength(5);
  });

  test("is not asked again at once when the pause is longer than a timer can be", async () => {
    const warnings: string[] = [];
    const note = ({ name }: Error) => warnings.push(name);
    process.on("warning", note);
    const model = pairedModel(() => ({ error: busy() }));
    const modelRetry = { baseDelayMs: 3e9, maxDelayMs: 3e9 };
    const agent = new ReActAgent({ name: "a", model, stateStore: store(), modelRetry });
    const controller = new AbortController();
    const call = agent.call("hi", { signal: controller.signal });
    await eventually(() => model.requests.length > 0);
    await new Promise((resolve) => setImmediate(resolve));
    controller.abort();
    await expect(call).rejects.toThrow();
    process.off("warning", note);
    expect(warnings).not.toContain("TimeoutOverflowWarning");
    expect(model.requests).toHaveLength(1);
  });

  test.each([
    ["a ModelError that is not retryable", new ModelError("no such key")],
    ["an error of its own", new TypeError("fetch failed")],
  ])("is asked once for %s", async (_, error) => {
    const model = pairedModel(() => ({ error }));
    const agent = new ReActAgent({ name: "a", model, stateStore: store(), modelRetry: atOnce });
    await expect(agent.call("hi")).rejects.toBe(error);
    expect(model.requests).toHaveLength(1);
  });

  test.each([
    [undefined, "yielded undefined where a chunk is needed"],
    ["The answer", "yielded a string where a chunk is needed"],
    [{ text: "The answer" }, "yielded an object without a type where a chunk is needed"],
  ])("that yields %o is asked once, and told what is wrong", async (chunk, words) => {
    const model = chunkModel([[chunk as never, finish()]]);
    const agent = new ReActAgent({ name: "a", model, stateStore: store(), modelRetry: atOnce });
    await expect(agent.call("hi")).rejects.toThrow(`model chunks ${words}`);
    expect(model.requests).toHaveLength(1);
  });

  test.each<[string, ScriptedStream]>([
    ["throws", [text("The ans"), busy()]],
    ["ends without a finish chunk", [text("The ans")]],
    ["finishes with an error", [text("The ans"), finish("error")]],
  ])("that %s in mid-stream is asked again, and no text is doubled", async (_, broken) => {
    const model = chunkModel([broken, [text("The answer"), text(" is 4."), finish()]]);
    const agent = new ReActAgent({ name: "a", model, stateStore: store(), modelRetry: atOnce });
    const reply = await agent.call("2+2");
    expect(reply.text).toBe("The answer is 4.");
    const state = await agent.getAgentState();
    expect(state?.context.map(textOf)).toEqual(["2+2", "The answer is 4."]);
    expect(model.requests[1]?.messages.map(textOf)).toEqual(["2+2"]);
  });
});

describe("the pause before the next attempt", () => {
  /** Whether a call with such an error still waits after another one has made all its attempts without pause. */
  async function waits(error: ModelError, modelRetry: object): Promise<boolean> {
    const events: AgentEvent[] = [];
    const model = pairedModel(({ messages }) => {
      const patient = textOf(messages[0] as never) === "patient";
      return { error: patient ? error : new ModelError("busy", { retryable: true }) };
    });
    const options = { name: "a", model, onEvent: (event: AgentEvent) => events.push(event) };
    const agent = new ReActAgent({ ...options, modelRetry });
    const eager = new ReActAgent({ ...options, modelRetry: { baseDelayMs: 0, attempts: 5 } });
    const patient = agent.call("patient", { sessionId: "s" });
    const outcome = patient.catch(() => undefined);
    await eventually(() => events.some(({ type }) => type === "model_call_end"));
    await expect(eager.call("eager")).rejects.toSatisfy(ModelError.is);
    const asked = model.requests.filter(
      ({ messages }) => textOf(messages[0] as never) === "patient",
    );
    await agent.interrupt(null, "s");
    await outcome;
    return asked.length === 1;
  }

  test("is as long as the provider asked for", async () => {
    const error = new ModelError("slow down", { retryable: true, retryAfterMs: 600_000 });
    expect(await waits(error, { baseDelayMs: 0 })).toBe(true);
  });

  test("is baseDelayMs, but not longer than maxDelayMs", async () => {
    const error = busy();
    expect(await waits(error, { baseDelayMs: 600_000, maxDelayMs: 600_000 })).toBe(true);
    expect(await waits(error, { baseDelayMs: 600_000, maxDelayMs: 0 })).toBe(false);
  });

  test("ends at once when the call is interrupted, and the input is kept", async () => {
    const model = pairedModel(() => ({ error: busy() }));
    const modelRetry = { baseDelayMs: 600_000, maxDelayMs: 600_000 };
    const agent = new ReActAgent({ name: "a", model, modelRetry });
    const call = agent.call("hi", { sessionId: "s" });
    await eventually(() => model.requests.length === 1);
    expect(await agent.interrupt(null, "s")).toBe("stopped");
    expect((await call).reason).toBe("interrupted");
    const state = await agent.getAgentState(null, "s");
    expect(state?.context.map(textOf)).toEqual(["hi"]);
  });
});

describe("the fallback model", () => {
  const down = new ModelError("down");

  test("answers when the primary fails before its first token", async () => {
    const model = pairedModel(() => ({ error: down }));
    const fallbackModel = pairedModel(["from the second"], { id: "second" });
    const events: AgentEvent[] = [];
    const agent = new ReActAgent({
      name: "a",
      model,
      fallbackModel,
      onEvent: (event) => events.push(event),
    });
    expect((await agent.call("hi")).text).toBe("from the second");
    expect(model.requests).toHaveLength(1);
    expect(fallbackModel.requests[0]?.messages.map(textOf)).toEqual(["hi"]);
    expect(events.flatMap((e) => (e.type === "model_call_start" ? e.model : []))).toEqual([
      "scripted",
      "second",
    ]);
  });

  test("comes after all attempts at a retryable error, and gets as many itself", async () => {
    const model = pairedModel(() => ({ error: busy() }));
    const fallbackModel = pairedModel([{ error: busy() }, "second attempt of the second"]);
    const agent = new ReActAgent({ name: "a", model, fallbackModel, modelRetry: atOnce });
    expect((await agent.call("hi")).text).toBe("second attempt of the second");
    expect(model.requests).toHaveLength(3);
  });

  test.each<[string, ScriptedStream]>([
    ["text", [text("The"), down]],
    ["thinking", [{ type: "thinking_delta", text: "Hm" }, down]],
    ["a tool call", [{ type: "tool_call", id: "1", name: "x", input: {} }, down]],
  ])("is not used once the primary has streamed %s", async (_, stream) => {
    const fallbackModel = pairedModel(["never"]);
    const agent = new ReActAgent({ name: "a", model: chunkModel([stream]), fallbackModel });
    await expect(agent.call("hi")).rejects.toBe(down);
    expect(fallbackModel.requests).toEqual([]);
  });

  test("fails the call with its own error when it fails too", async () => {
    const second = new ModelError("down too");
    const agent = new ReActAgent({
      name: "a",
      model: pairedModel(() => ({ error: down })),
      fallbackModel: pairedModel(() => ({ error: second })),
    });
    await expect(agent.call("hi")).rejects.toBe(second);
  });
});
