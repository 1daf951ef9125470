import { describe, expect, test } from "vitest";
import {
  type EventBody,
  type Model,
  type ModelChunk,
  ModelError,
  type ModelRequest,
  userMessage,
} from "../../src/index.js";
import { addUsage, askModel, type ModelQuestion } from "../../src/plugin-kit/index.js";

const usage = { inputTokens: 10, outputTokens: 4 };
const text = (chars: string): ModelChunk => ({ type: "text_delta", text: chars });
const finish = (reason: "stop" | "length" | "error" = "stop"): ModelChunk => ({
  type: "finish",
  reason,
  usage,
});

/** A model that streams one of `scripts` after the other; an error in one is thrown there, "hang" never answers. */
function modelOf(...scripts: (ModelChunk | Error | "hang")[][]) {
  const requests: ModelRequest[] = [];
  const model: Model = {
    id: "fake",
    async *stream(request) {
      requests.push(request);
      for (const chunk of scripts[requests.length - 1] ?? []) {
        if (chunk === "hang") await new Promise(() => undefined);
        else if (chunk instanceof Error) throw chunk;
        else yield chunk;
      }
    },
  };
  return { model, requests };
}

/** A question, and the events it led to, without what a clock says. */
function questionTo(model: Model, fields: Partial<ModelQuestion> = {}) {
  const events: EventBody[] = [];
  const requestIds: string[] = [];
  const question: ModelQuestion = {
    model,
    request: { system: "Sum up.", messages: [userMessage("a"), userMessage("b")], tools: [] },
    purpose: "summary",
    signal: new AbortController().signal,
    maxChars: 100,
    emit(event) {
      if (event.type === "model_call_start") {
        const { requestId, ...rest } = event;
        expect(requestIds).not.toContain(requestId);
        requestIds.push(requestId);
        events.push(rest as EventBody);
      } else if (event.type === "model_call_end") {
        const { requestId, durationMs, ...rest } = event;
        expect(requestId).toBe(requestIds.at(-1));
        expect(durationMs).toBeGreaterThanOrEqual(0);
        events.push(rest as EventBody);
      } else events.push(event);
    },
    ...fields,
  };
  return { question, events };
}

const about = { purpose: "summary", model: "fake" };
const none = { inputTokens: 0, outputTokens: 0 };
const start = (attempt: number) => ({ type: "model_call_start", ...about, messages: 2, attempt });
const end = (fields: object) => ({ type: "model_call_end", ...about, ...fields });

test("what is no chunk fails the question, without being said", async () => {
  const { model } = modelOf(["the secret" as never, finish()]);
  const { question, events } = questionTo(model);
  const asked = askModel(question);
  await expect(asked).rejects.toThrow(/^model fake yielded a string where a chunk is needed/);
  await expect(asked).rejects.not.toThrow("secret");
  expect(events).toEqual([start(1), end({ usage: none, error: "MODEL" })]);
});

test("the answer is the text in one piece, with what it cost, and events tell of it", async () => {
  const { model, requests } = modelOf([
    text("It is "),
    { type: "thinking_delta", text: "hmm" },
    text("short."),
    finish(),
  ]);
  const { question, events } = questionTo(model);
  expect(await askModel(question)).toEqual({
    text: "It is short.",
    calledTools: false,
    isCutOff: false,
    isTooLong: false,
    usage,
  });
  expect(events).toEqual([start(1), end({ usage })]);
  expect(requests).toEqual([{ ...question.request, signal: question.signal }]);
});

test("an answer says when the model called tools, and when its own limit cut it off", async () => {
  const call: ModelChunk = { type: "tool_call", id: "c", name: "look", input: {} };
  const { model } = modelOf([text("I"), call, finish("length")]);
  const answer = await askModel(questionTo(model).question);
  expect(answer).toMatchObject({ text: "I", calledTools: true, isCutOff: true });
});

test("a model that writes too much is left, and does not count as failed", async () => {
  let isLeft = false;
  const model: Model = {
    id: "fake",
    async *stream() {
      try {
        for (;;) yield text("blah ");
      } finally {
        isLeft = true;
      }
    },
  };
  const { question, events } = questionTo(model, { maxChars: 12 });
  const answer = await askModel(question);
  expect(answer).toMatchObject({ text: "blah blah blah ", isTooLong: true, usage: none });
  expect(events).toEqual([start(1), end({ usage: none })]);
  expect(isLeft).toBe(true);
});

test("as many characters as allowed are not too many", async () => {
  const { model } = modelOf([text("x".repeat(100)), finish()]);
  expect(await askModel(questionTo(model).question)).toMatchObject({ isTooLong: false, usage });
});

describe("a failure", () => {
  const overloaded = new ModelError("overloaded", { retryable: true });

  test.each([
    ["that may pass", [text("half an"), overloaded], "MODEL", none],
    ["at the end of the stream", [text("half an"), finish("error")], "MODEL", usage],
    ["by a stream that just ends", [text("half an")], "MODEL", none],
  ] as const)("%s is tried again once, from the beginning", async (_, failing, error, spent) => {
    const { model, requests } = modelOf([...failing], [text("whole"), finish()]);
    const { question, events } = questionTo(model);
    expect(await askModel(question)).toMatchObject({ text: "whole", usage });
    expect(requests).toHaveLength(2);
    expect(events).toEqual([start(1), end({ usage: spent, error }), start(2), end({ usage })]);
  });

  test("that comes twice is thrown", async () => {
    const { model, requests } = modelOf([overloaded], [overloaded], [text("late"), finish()]);
    await expect(askModel(questionTo(model).question)).rejects.toBe(overloaded);
    expect(requests).toHaveLength(2);
  });

  test.each([
    ["that would come again", new ModelError("no such model"), "MODEL"],
    ["that is not the model's", new TypeError("a bug"), "TypeError"],
  ])("%s is thrown at once", async (_, failure, error) => {
    const { model, requests } = modelOf([failure], [text("late"), finish()]);
    const { question, events } = questionTo(model);
    await expect(askModel(question)).rejects.toBe(failure);
    expect(requests).toHaveLength(1);
    expect(events).toEqual([start(1), end({ usage: none, error })]);
  });

  test("without an end says which model and what for", async () => {
    const { model } = modelOf([], []);
    const failure = await askModel(questionTo(model).question).catch((error) => error);
    expect(failure).toSatisfy(ModelError.is);
    expect(failure.message).toBe("model fake did not finish its summary");
  });
});

describe("a signal", () => {
  test("that aborts ends the wait for a model that ignores it, and nothing is tried again", async () => {
    const { model, requests } = modelOf([text("half"), "hang"], [text("late"), finish()]);
    const controller = new AbortController();
    const reason = new ModelError("stopped", { retryable: true });
    const { question, events } = questionTo(model, { signal: controller.signal });
    const asking = askModel(question);
    while (requests.length === 0) await new Promise(setImmediate);
    controller.abort(reason);
    await expect(asking).rejects.toBe(reason);
    expect(requests).toHaveLength(1);
    expect(events).toEqual([start(1), end({ usage: none, error: "MODEL" })]);
  });

  test("that was aborted before keeps the model from being asked", async () => {
    const { model, requests } = modelOf([text("late"), finish()]);
    const { question, events } = questionTo(model, { signal: AbortSignal.abort(new Error("no")) });
    await expect(askModel(question)).rejects.toThrow("no");
    expect([requests, events]).toEqual([[], []]);
  });

  test("that stops everything leaves nobody to tell of the end", async () => {
    const { model, requests } = modelOf(["hang"]);
    const controller = new AbortController();
    const { signal } = controller;
    const { question, events } = questionTo(model, { signal, isStopped: () => signal.aborted });
    const asking = askModel(question);
    while (requests.length === 0) await new Promise(setImmediate);
    controller.abort(new Error("stop"));
    await expect(asking).rejects.toThrow("stop");
    expect(events).toEqual([start(1)]);
  });
});

test("usages are added up, and cached tokens only where they were counted", () => {
  const [one, two] = [
    { inputTokens: 1, outputTokens: 2 },
    { inputTokens: 10, outputTokens: 20, cachedInputTokens: 5 },
  ];
  expect(addUsage(one, one)).toStrictEqual({ inputTokens: 2, outputTokens: 4 });
  const sum = { inputTokens: 11, outputTokens: 22, cachedInputTokens: 5 };
  expect(addUsage(one, two)).toStrictEqual(sum);
  expect(addUsage(two, one)).toStrictEqual(sum);
  expect(addUsage(two, two).cachedInputTokens).toBe(10);
});
