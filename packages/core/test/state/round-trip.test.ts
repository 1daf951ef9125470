import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyState, runs, stateDocument } from "../arbitraries.js";
import { AgentState, type JsonObject, type Message, toolCallsOf, userMessage } from "../values.js";

const prototypeKeys = Reflect.ownKeys(Object.prototype);
const create = () => AgentState.create({ sessionId: "s", userId: "u" });
const documentOf = (state: AgentState) => JSON.parse(state.toJson()) as JsonObject;

describe("a round trip", () => {
  test("through values and text gives the document back, to the last lone surrogate", () => {
    fc.assert(
      fc.property(stateDocument, (document) => {
        const text = AgentState.fromJson(document).toJson();
        const back = AgentState.fromJsonString(text).toJSON();
        expect(isDeepStrictEqual(back, document)).toBe(true);
      }),
      runs(10_000),
    );
    expect(Reflect.ownKeys(Object.prototype)).toEqual(prototypeKeys);
  });

  test("through the head and the messages, as a store keeps them, gives the document back", () => {
    fc.assert(
      fc.property(anyState, (state) => {
        const stored = JSON.parse(
          JSON.stringify({ head: state.head(), messages: state.context }),
        ) as { head: JsonObject; messages: Message[] };
        const loaded = AgentState.fromParts(stored);
        expect(isDeepStrictEqual(loaded.toJSON(), state.toJSON())).toBe(true);
        expect(loaded.contextDelta()).toEqual({
          keep: state.context.length,
          replace: [],
          append: [],
        });
        expect(Object.hasOwn(loaded.head(), "context")).toBe(false);
      }),
      runs(500),
    );
  });

  test("gives every section back through its accessor", () => {
    fc.assert(
      fc.property(stateDocument, (document) => {
        const state = AgentState.fromJsonString(JSON.stringify(document));
        const names = [
          ...["sessionId", "userId", "context", "permissionContext", "planModeContext"],
          ...["tasksContext", "toolContext", "extensions", "openCalls", "shutdownInterrupted"],
          ...["finishedCalls", "unfinishedRun", "resumableRun"],
        ] as (keyof AgentState)[];
        for (const name of names)
          expect(isDeepStrictEqual(state[name], document[name]), name).toBe(true);
      }),
      runs(500),
    );
  });

  test("keeps __proto__ keys as data wherever they stand", () => {
    const evil = '{"__proto__":{"polluted":1},"constructor":2}';
    const message = `{"id":"m","role":"assistant","createdAt":"now","metadata":${evil},
      "content":[{"type":"tool_call","id":"__proto__","name":"n","input":${evil}}],"__proto__":3}`;
    const text = JSON.stringify(create()).replace(/"extensions":\{\}/, `"extensions":${evil}`);
    const full = text.replace(/"context":\[\]/, `"context":[${message}],"__proto__":${evil}`);
    const state = AgentState.fromJsonString(full);
    expect(isDeepStrictEqual(documentOf(state), JSON.parse(full))).toBe(true);
    expect(Object.keys(state.extensions)).toEqual(["__proto__", "constructor"]);
    expect(state.copy().extensions).toEqual(state.extensions);
    expect(Object.hasOwn(state.toJSON(), "__proto__")).toBe(true);
    expect(state.context.map((m) => Object.hasOwn(m, "__proto__"))).toEqual([true]);
    expect(toolCallsOf(state.context[0] as Message)[0]?.input).toHaveProperty("constructor", 2);
    expect("polluted" in {}).toBe(false);
  });

  test("keeps the fields and the version of a newer writer that this release may read", () => {
    const document = {
      ...documentOf(create()),
      schemaVersion: 7,
      minReader: 1,
      budget: { tokens: 5 },
    };
    const state = AgentState.fromJson(document);
    state.contextMutable().push(userMessage("hello"));
    expect(state.toJSON()).toEqual({ ...document, context: state.context });
    expect(state.copy().toJSON()).toEqual(state.toJSON());
  });

  test("freezes what it loads, all the way down", () => {
    fc.assert(
      fc.property(stateDocument, (document) => {
        const isFrozen = (value: unknown): boolean =>
          typeof value !== "object" ||
          value === null ||
          (Object.isFrozen(value) && Object.values(value).every(isFrozen));
        expect(AgentState.fromJson(document).context.every(isFrozen)).toBe(true);
        expect(Object.isFrozen(document["context"])).toBe(false);
      }),
      runs(500),
    );
  });
});
