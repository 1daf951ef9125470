import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hostileKey, jsonValue, runs, stateDocument } from "../arbitraries.js";
import {
  AgentState,
  type JsonValue,
  StateCorruptError,
  StateTooNewError,
  userMessage,
} from "../values.js";

const canary = "canary";
const nested = (levels: number) => JSON.parse("[".repeat(levels) + "]".repeat(levels)) as JsonValue;

/** A document with the canary in every place that holds contents. */
function document(): Record<string, unknown> {
  const state = AgentState.create({ sessionId: "s", userId: "u" });
  state.contextMutable().push(
    userMessage(
      [
        { type: "text", text: canary },
        { type: "tool_call", id: "c", name: canary, input: { [canary]: canary } },
        { type: "tool_result", toolCallId: "c", name: canary, output: [], state: "success" },
      ],
      { metadata: { [canary]: canary } },
    ),
  );
  state.extensions[canary] = { [canary]: canary };
  return { ...state.toJSON(), [canary]: canary };
}

/** The error of every way in, which must be the same kind and must not hold contents. */
function refusals(value: unknown): Error[] {
  const { context, ...head } = (value ?? {}) as { context?: unknown };
  const ways = [
    () => AgentState.fromJson(value),
    () => AgentState.fromJsonString(JSON.stringify(value)),
    () => AgentState.fromParts({ head, messages: context } as never),
  ];
  return ways.map((way) => {
    try {
      way();
    } catch (error) {
      expect(String(error) + String((error as Error).cause)).not.toContain(canary);
      return error as Error;
    }
    throw new Error("not refused");
  });
}

function expectCorrupt(value: unknown, message = ""): void {
  for (const error of refusals(value)) {
    expect(error).toSatisfy(StateCorruptError.is);
    expect(error.message).toContain(message);
  }
}

/** Loads, or throws one of the two errors a reader can act on. */
function loadsOrRefuses(load: () => AgentState): boolean {
  try {
    load().toJson();
    return true;
  } catch (error) {
    expect(error).toSatisfy((e) => StateCorruptError.is(e) || StateTooNewError.is(e));
    expect((error as Error).cause).toBe(undefined);
    return false;
  }
}

/** Every property of every object and list in a document. */
function placesIn(value: unknown): [owner: object, key: string][] {
  if (typeof value !== "object" || value === null) return [];
  return Object.keys(value).flatMap((key): [object, string][] => [
    [value, key],
    ...placesIn((value as Record<string, unknown>)[key]),
  ]);
}

describe("text that is no state is StateCorruptError and nothing else", () => {
  test("any JSON value", () => {
    fc.assert(
      fc.property(jsonValue, (value) => {
        expect(loadsOrRefuses(() => AgentState.fromJsonString(JSON.stringify(value)))).toBe(false);
        expect(loadsOrRefuses(() => AgentState.fromJson(value))).toBe(false);
      }),
      runs(1_000),
    );
  });

  test("a document cut short anywhere", () => {
    const text = JSON.stringify(document());
    for (let length = 0; length < text.length; length++)
      expect(loadsOrRefuses(() => AgentState.fromJsonString(text.slice(0, length)))).toBe(false);
  });

  test("a document with any one value of any section replaced by another loads or is refused", () => {
    fc.assert(
      fc.property(stateDocument, fc.nat(), jsonValue, (given, which, value) => {
        const damaged = structuredClone(given);
        const places = placesIn(damaged);
        const [owner, key] = places[which % places.length] as [object, string];
        Object.defineProperty(owner, key, { value, enumerable: true });
        loadsOrRefuses(() => AgentState.fromJson(damaged));
        loadsOrRefuses(() => AgentState.fromJsonString(JSON.stringify(damaged)));
      }),
      runs(1_000),
    );
  });

  test("a value that JSON cannot hold", () => {
    const cycle: unknown[] = [];
    cycle.push(cycle, cycle);
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, 1n, cycle])
      for (const field of ["extensions", "anything"])
        expect(() => AgentState.fromJson({ ...document(), [field]: { value } })).toThrow(
          expect.toSatisfy(StateCorruptError.is),
        );
    expect(() => AgentState.fromJson(undefined)).toThrow(expect.toSatisfy(StateCorruptError.is));
    expect(() => AgentState.fromJson(() => 1)).toThrow(expect.toSatisfy(StateCorruptError.is));
  });

  test("contents do not appear in the error of a document that does not parse", () => {
    for (const text of [canary, `{"${canary}"`, `["${canary}",]`])
      expect(() => AgentState.fromJsonString(text)).toThrow(
        expect.toSatisfy((error) => StateCorruptError.is(error) && !`${error}`.includes(canary)),
      );
  });
});

describe("a wrong form is refused by the name of its field", () => {
  const wrong: [field: string, values: unknown[]][] = [
    ["format", [undefined, "other", null]],
    ["schemaVersion", [undefined, "1", 1.5, 0, -1, null]],
    ["minReader", [undefined, "1", -1, null]],
    ["sessionId", [undefined, null, 5, "", "\ud800", "x".repeat(256)]],
    ["userId", [undefined, 5, "", "\udfff", []]],
    ["context", [undefined, null, {}, "[]"]],
    [
      "permissionContext",
      [
        null,
        [],
        {},
        ...["mode", "allow", "deny", "ask", "workingDirectories"].map((field) => ({
          ...(document()["permissionContext"] as object),
          [field]: 1,
        })),
        ...["allow", "deny", "ask"].map((field) => ({
          ...(document()["permissionContext"] as object),
          [field]: [{ tool: 1, [canary]: canary }],
        })),
        { ...(document()["permissionContext"] as object), allow: [{ tool: canary, pattern: 1 }] },
        { ...(document()["permissionContext"] as object), workingDirectories: [1] },
      ],
    ],
    ["planModeContext", [null, {}, { active: 1, planFile: null }, { active: true, planFile: 1 }]],
    [
      "tasksContext",
      [null, [], { tasks: {} }, { tasks: [canary] }, { tasks: [{ content: canary }] }],
    ],
    ["toolContext", [null, {}, { activatedGroups: canary }, { activatedGroups: [1] }]],
    ["extensions", [null, [], canary]],
    ["openCalls", [null, [], { [canary]: canary }, { c: null }]],
    ["shutdownInterrupted", [null, 1, "true"]],
    ["finishedCalls", [null, {}, [canary], [{ callId: canary, messageId: canary }]]],
    [
      "unfinishedRun",
      [
        [],
        canary,
        {},
        { callId: 1, messageIds: [], before: {} },
        { callId: canary, messageIds: [1], before: {} },
        { callId: canary, messageIds: [], before: [] },
        { callId: canary, messageIds: [] },
        ...[canary, {}, [canary], [[1]], [["a", {}, "inside"]]].map((undo) => ({
          ...{ callId: canary, messageIds: [], undo },
        })),
      ],
    ],
    [
      "resumableRun",
      [
        [],
        canary,
        { callId: canary, messageId: "" },
        { callId: 1, messageId: "", reason: "error" },
        { callId: canary, messageId: "", reason: "error", inputIds: [1] },
      ],
    ],
  ];

  test.each(wrong)("%s", (field, values) => {
    for (const value of values) expectCorrupt({ ...document(), [field]: value });
    const fields = { schemaVersion: "version", minReader: "version" } as Record<string, string>;
    expectCorrupt({ ...document(), [field]: values.at(-1) }, fields[field] ?? field);
  });

  test("a bad message is named by its index, a bad block by its place", () => {
    const good = (document()["context"] as Record<string, unknown>[])[0] as Record<string, unknown>;
    const bad: [message: unknown, problem: string][] = [
      [null, "message 1 of the state: it is not an object"],
      [{ ...good, role: canary }, "message 1 of the state: role"],
      [{ ...good, content: canary }, "message 1 of the state: content"],
      [{ ...good, content: [{ type: canary, text: canary }] }, "content[0]: unknown block type"],
      [{ ...good, content: [{ type: "text", text: { canary } }] }, "content[0]: text is not"],
    ];
    for (const [message, problem] of bad)
      expectCorrupt({ ...document(), context: [good, message] }, problem);
  });

  test("depth over 256 is refused in a message, and in the head with room for what wraps it", () => {
    const message = userMessage("a", { metadata: { a: nested(254) } });
    const deeper = { ...message, metadata: { a: nested(255) } };
    expect(AgentState.fromJson({ ...document(), context: [message] }).context).toEqual([message]);
    expectCorrupt(
      { ...document(), context: [deeper] },
      "message 0 of the state: it is nested deeper",
    );
    expectCorrupt({ ...document(), extensions: { a: nested(300) } }, "nested deeper");
    expectCorrupt({ ...document(), [canary]: nested(300) }, "nested deeper");
  });

  test("depth that would overflow the stack is refused all the same", () => {
    const deep = "[".repeat(200_000) + "]".repeat(200_000);
    const text = JSON.stringify({ ...document(), context: [], extra: "DEEP" });
    for (const place of [
      text.replace('"DEEP"', deep),
      text.replace('"context":[]', `"context":[${deep}]`),
      deep,
    ]) {
      expect(loadsOrRefuses(() => AgentState.fromJsonString(place))).toBe(false);
      expect(loadsOrRefuses(() => AgentState.fromJson(JSON.parse(place)))).toBe(false);
    }
    const messages = [{ ...userMessage("a"), metadata: { deep: JSON.parse(deep) } }] as never;
    const { context: _, ...head } = document();
    expect(loadsOrRefuses(() => AgentState.fromParts({ head: head as never, messages }))).toBe(
      false,
    );
  });
});

describe("a document of a newer release", () => {
  test("that needs a newer reader is StateTooNewError, whatever else it holds", () => {
    const newer = { ...document(), schemaVersion: 4, minReader: 4 };
    const unreadable = { ...newer, permissionContext: canary, context: [{ kind: canary }] };
    for (const value of [newer, unreadable])
      for (const error of refusals(value)) {
        expect(error).toSatisfy(StateTooNewError.is);
        expect(error.message).toContain("Upgrade");
      }
  });

  test("that says it can be read is read", () => {
    const newer = { ...document(), schemaVersion: 4, minReader: 1 };
    expect(AgentState.fromJson(newer).toJSON()).toEqual(newer);
  });
});

test("a head section that is not there is the empty one, so that older documents load", () => {
  const old = {
    format: "holdfast.state",
    schemaVersion: 1,
    minReader: 1,
    sessionId: "s",
    userId: null,
  };
  expect(AgentState.fromJson({ ...old, context: [] }).toJSON()).toEqual(
    AgentState.create({ sessionId: "s" }).toJSON(),
  );
});

test("a field with any name is either known or kept", () => {
  fc.assert(
    fc.property(hostileKey, jsonValue, (key, value) => {
      const before = document();
      if (Object.hasOwn(before, key)) return;
      const given = { ...before, ...Object.fromEntries([[key, value]]) };
      expect(JSON.parse(AgentState.fromJson(given).toJson())).toEqual(given);
    }),
    runs(500),
  );
});
