import {
  type AgentEvent,
  InMemoryAgentStateStore,
  type Model,
  type ModelChunk,
  ModelError,
  ReActAgent,
  textOf,
} from "@holdfast/core";
import { eventually } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { chunkModel, finish, text } from "./chunk-model.js";
import { pairedModel } from "./valid-pairing.js";

/** Unread events a stream keeps as they came; documented in docs/guarantees.md (P8). */
const MAX_UNREAD_EVENTS = 10_000;

async function read(events: AsyncIterable<AgentEvent>): Promise<AgentEvent[]> {
  const list: AgentEvent[] = [];
  for await (const event of events) list.push(event);
  return list;
}

function said(events: readonly AgentEvent[]): string {
  return events.map((event) => (event.type === "text_delta" ? event.text : "")).join("");
}

const repeated = (count: number, chunk: (index: number) => ModelChunk): ModelChunk[] =>
  Array.from({ length: count }, (_, index) => chunk(index));

describe.each([true, false])("a stream, fused: %s", (fused) => {
  const stateStore = () => new InMemoryAgentStateStore({ fused });

  test("starts at once, without anybody reading, and loses nothing", async () => {
    const model = pairedModel(["hello"]);
    const agent = new ReActAgent({ name: "a", model, stateStore: stateStore() });
    const run = agent.stream("hi");
    expect((await run.result).text).toBe("hello");
    expect((await agent.getAgentState())?.context.map(textOf)).toEqual(["hi", "hello"]);
    const events = await read(run);
    expect(said(events)).toBe("hello");
    expect(events.at(-1)?.type).toBe("call_end");
  });

  test("goes on when the loop is left, and the state is saved", async () => {
    let answer = (_: string) => {};
    const model = pairedModel(
      () =>
        new Promise<string>((resolve) => {
          answer = resolve;
        }),
    );
    const agent = new ReActAgent({ name: "a", model, stateStore: stateStore() });
    const run = agent.stream("hi");
    const left: AgentEvent[] = [];
    for await (const event of run) {
      left.push(event);
      if (event.type === "model_call_start") break;
    }
    await eventually(() => model.requests.length === 1);
    answer("hello");
    expect((await run.result).text).toBe("hello");
    expect((await agent.getAgentState())?.context.map(textOf)).toEqual(["hi", "hello"]);
    const rest = await read(run);
    expect([...left, ...rest].map(({ seq }) => seq)).toEqual(
      [...left, ...rest].map((_, index) => index),
    );
  });

  test("gives a slow reader everything", async () => {
    const model = chunkModel([[...repeated(500, (n) => text(`${n},`)), finish()]]);
    const agent = new ReActAgent({ name: "a", model, stateStore: stateStore() });
    const run = agent.stream("count");
    const events: AgentEvent[] = [];
    for await (const event of run) {
      events.push(event);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(said(events)).toBe((await run.result).text);
    expect(events.filter(({ type }) => type === "text_delta")).toHaveLength(500);
  });

  test("gives a reader that waits each event as it happens", async () => {
    let proceed = () => {};
    const model: Model = {
      id: "stepwise",
      async *stream() {
        for (const word of ["one", "two"]) {
          yield text(word);
          await new Promise<void>((resolve) => {
            proceed = resolve;
          });
        }
        yield finish();
      },
    };
    const agent = new ReActAgent({ name: "a", model, stateStore: stateStore() });
    const words: string[] = [];
    for await (const event of agent.stream("go"))
      if (event.type === "text_delta") {
        words.push(event.text);
        setImmediate(() => proceed());
      }
    expect(words).toEqual(["one", "two"]);
  });
});

describe("more unread events than are kept", () => {
  const many = MAX_UNREAD_EVENTS + 2_000;

  test.each<[string, (n: number) => ModelChunk, (event: AgentEvent) => string]>([
    ["text", (n) => text(`${n},`), (e) => (e.type === "text_delta" ? e.text : "")],
    [
      "thinking",
      (n) => ({ type: "thinking_delta", text: `${n},` }),
      (e) => (e.type === "thinking_delta" ? e.text : ""),
    ],
    [
      "tool input",
      (n) => ({ type: "tool_call_delta", id: "x", name: "t", inputDelta: `${n},` }),
      (e) => (e.type === "tool_call_delta" ? e.inputDelta : ""),
    ],
  ])(
    "merge their deltas of %s without losing any, and stay numbered without gaps",
    async (_, chunk, shown) => {
      const end: ModelChunk = { type: "tool_call", id: "x", name: "t", input: {} };
      const model = chunkModel([
        [...repeated(many, chunk), end, finish("tool_calls")],
        [text("done"), finish()],
      ]);
      const observed: AgentEvent[] = [];
      const agent = new ReActAgent({ name: "a", model, onEvent: (event) => observed.push(event) });
      const run = agent.stream("go");
      await run.result;
      const events = await read(run);
      expect(events.length).toBeLessThan(MAX_UNREAD_EVENTS + 100);
      expect(events.map(({ seq }) => seq)).toEqual(events.map((__, index) => index));
      const numbers = Array.from({ length: many }, (__, n) => `${n},`).join("");
      expect(events.map(shown).join("").replace("done", "")).toBe(numbers);
      expect(observed.length).toBeGreaterThan(many);
    },
  );

  test("do not merge what belongs to different calls or kinds", async () => {
    const delta = (n: number): ModelChunk => ({
      type: "tool_call_delta",
      id: n % 2 === 0 ? "x" : "y",
      name: "t",
      inputDelta: `${n},`,
    });
    const ends = ["x", "y"].map(
      (id): ModelChunk => ({ type: "tool_call", id, name: "t", input: {} }),
    );
    const model = chunkModel([
      [...repeated(MAX_UNREAD_EVENTS + 10, delta), ...ends, finish("tool_calls")],
      [text("done"), finish()],
    ]);
    const run = new ReActAgent({ name: "a", model }).stream("go");
    await run.result;
    const texts = new Map<string, string>();
    for (const event of await read(run))
      if (event.type === "tool_call_delta")
        texts.set(event.toolCallId, (texts.get(event.toolCallId) ?? "") + event.inputDelta);
    const numbers = Array.from({ length: MAX_UNREAD_EVENTS + 10 }, (_, n) => n);
    expect([...texts.values()]).toEqual([
      numbers
        .filter((n) => n % 2 === 0)
        .map((n) => `${n},`)
        .join(""),
      numbers
        .filter((n) => n % 2 === 1)
        .map((n) => `${n},`)
        .join(""),
    ]);
  });
});

test("an unread call that alternates text, thinking and the input of tools stays bounded, and its reply is whole", async () => {
  const kinds: ((n: number) => ModelChunk)[] = [
    (n) => text(`${n},`),
    (n) => ({ type: "thinking_delta", text: `${n},` }),
    (n) => ({ type: "tool_call_delta", id: "x", name: "t", inputDelta: `${n}` }),
    (n) => ({ type: "tool_call_delta", id: "y", name: "t", inputDelta: `${n}` }),
  ];
  const many = 5 * MAX_UNREAD_EVENTS;
  const ends = ["x", "y"].map(
    (id): ModelChunk => ({ type: "tool_call", id, name: "t", input: {} }),
  );
  const model = chunkModel([
    [
      ...repeated(many, (n) => (kinds[n % 4] as (n: number) => ModelChunk)(n)),
      ...ends,
      finish("tool_calls"),
    ],
    [text("done"), finish()],
  ]);
  const stateStore = new InMemoryAgentStateStore();
  const agent = new ReActAgent({ name: "a", model, stateStore });
  const run = agent.stream("go");
  await run.result;
  const events = await read(run);
  expect(events.length).toBeLessThan(MAX_UNREAD_EVENTS);
  expect(events.some(({ type }) => type === "events_dropped")).toBe(false);
  const [, reply] = (await agent.getAgentState())?.context ?? [];
  expect(said(events)).toBe(`${reply && textOf(reply)}done`);
  expect(events.at(-1)?.type).toBe("call_end");
});

test("result rejects as call would; who only reads events hears no unhandled rejection", async () => {
  const unhandled: unknown[] = [];
  const note = (error: unknown) => unhandled.push(error);
  process.on("unhandledRejection", note);
  const error = new ModelError("down");
  const agent = new ReActAgent({ name: "a", model: pairedModel(() => ({ error })) });
  const run = agent.stream("hi");
  expect((await read(run)).at(-1)).toMatchObject({ type: "call_end", reason: "error" });
  await new Promise((resolve) => setImmediate(resolve));
  process.off("unhandledRejection", note);
  expect(unhandled).toEqual([]);
  await expect(run.result).rejects.toBe(error);
});
