import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { withUndo } from "../../src/state/head-undo.js";
import { anyMessage, anyState, runs } from "../arbitraries.js";
import {
  AgentState,
  InterruptTrigger,
  InvalidIdError,
  InvalidInputError,
  userMessage,
} from "../values.js";

const create = () => AgentState.create({ sessionId: "s", userId: "u" });

describe("a new state", () => {
  test("is empty, anonymous unless told otherwise, and not yet stored", () => {
    const state = AgentState.create({ sessionId: "s" });
    expect(state.toJSON()).toEqual({
      format: "holdfast.state",
      schemaVersion: 3,
      minReader: 1,
      sessionId: "s",
      userId: null,
      context: [],
      permissionContext: { mode: "default", allow: [], deny: [], ask: [], workingDirectories: [] },
      planModeContext: { active: false, planFile: null },
      tasksContext: { tasks: [] },
      toolContext: { activatedGroups: null },
      extensions: {},
      openCalls: {},
      shutdownInterrupted: false,
      finishedCalls: [],
      unfinishedRun: null,
      resumableRun: null,
    });
    expect(state.summary).toBe(null);
    expect(state.contextDelta()).toEqual({ keep: 0, replace: [], append: [] });
  });

  test("wants ids that a store accepts", () => {
    for (const ids of [{ sessionId: "" }, { sessionId: "s", userId: "\ud800" }])
      expect(() => AgentState.create(ids)).toThrow(
        expect.toSatisfy((error) => InvalidIdError.is(error)),
      );
  });
});

describe("what is never written", () => {
  test("the interrupt control is in no form of the document, and starts cleared", () => {
    const state = create();
    const trigger = new InterruptTrigger();
    trigger.trigger(userMessage("canary stop"));
    state.interruptControl = trigger;
    for (const text of [state.toJson(), JSON.stringify(state.head()), JSON.stringify(state)]) {
      expect(text).not.toContain("interruptControl");
      expect(text).not.toContain("canary");
    }
    expect(state.interruptControl.isInterrupted()).toBe(true);
    for (const other of [state.copy(), AgentState.fromJsonString(state.toJson())]) {
      expect(other.interruptControl.isInterrupted()).toBe(false);
      expect(other.interruptControl.message).toBe(null);
    }
  });

  test.each([
    ["NaN", { n: Number.NaN }],
    ["Infinity", [Number.NEGATIVE_INFINITY]],
    ["a function", { f: () => 1 }],
    ["300 levels", JSON.parse("[".repeat(300) + "]".repeat(300))],
  ])("%s in a head section is refused when the state is written, by its path", (_, value) => {
    const state = create();
    state.extensions["plugin"] = value as never;
    for (const write of [() => state.head(), () => state.toJSON(), () => state.toJson()])
      expect(write).toThrow(
        expect.toSatisfy(
          (error) => InvalidInputError.is(error) && error.message.includes("extensions.plugin"),
        ),
      );
  });
});

describe("values of 256 levels", () => {
  const deep = (levels: number) => JSON.parse("[".repeat(levels) + "]".repeat(levels)) as [];

  test("that entered a message load again with it", () => {
    const state = create();
    state.contextMutable().push(userMessage("a", { metadata: { deep: deep(254) } }));
    expect(() => userMessage("a", { metadata: { deep: deep(255) } })).toThrow("deeper than 256");
    expect(AgentState.fromJsonString(state.toJson()).toJSON()).toEqual(state.toJSON());
  });

  test("that entered a plugin's state load again, also beside the sections a run started from", () => {
    const state = create();
    state.extensions["plugin"] = { version: 1, value: deep(256) };
    state.unfinishedRun = { callId: "c", messageIds: [], before: state.head() };
    expect(AgentState.fromJsonString(state.toJson()).toJSON()).toEqual(state.toJSON());
    state.extensions["plugin"] = { version: 2, value: deep(256) };
    const stored = withUndo(state.head());
    expect(stored).not.toHaveProperty("unfinishedRun.before");
    expect(AgentState.fromParts({ head: stored, messages: [] }).head()).toMatchObject(stored);
  });
});

describe("a copy", () => {
  test("has the same contents and shares only the messages", () => {
    fc.assert(
      fc.property(anyState, (state) => {
        const copy = state.copy();
        expect(isDeepStrictEqual(copy.toJSON(), state.toJSON())).toBe(true);
        expect(copy.context.every((message, index) => message === state.context[index])).toBe(true);
      }),
      runs(500),
    );
  });

  test("is not touched by edits of the original, nor the original by edits of the copy", () => {
    fc.assert(
      fc.property(anyState, anyMessage, fc.boolean(), (state, message, editCopy) => {
        const copy = state.copy();
        const [edited, other] = editCopy ? [copy, state] : [state, copy];
        const before = other.toJson();
        edited.contextMutable().splice(0, 1, message);
        edited.permissionContext.mode = "bypass";
        edited.permissionContext.allow = [{ tool: "canary" }];
        edited.planModeContext.planFile = "canary";
        edited.tasksContext.tasks = [{ content: "canary", status: "pending" }];
        edited.toolContext.activatedGroups = ["canary"];
        edited.extensions["canary"] = true;
        edited.openCalls["canary"] = "started";
        edited.shutdownInterrupted = !edited.shutdownInterrupted;
        edited.finishedCalls = [];
        edited.unfinishedRun = null;
        edited.interruptControl = new InterruptTrigger();
        expect(other.toJson()).toBe(before);
        expect(edited.toJson()).not.toBe(before);
      }),
      runs(500),
    );
  });
});

test("toJSON and head are snapshots: later edits do not reach into them", () => {
  const state = create();
  const [document, head] = [state.toJSON(), state.head()];
  const before = JSON.stringify([document, head]);
  state.contextMutable().push(userMessage("later"));
  state.permissionContext.mode = "bypass";
  state.extensions["later"] = 1;
  state.openCalls["later"] = "pending";
  expect(JSON.stringify([document, head])).toBe(before);
});

test("a state made of frozen parts can be edited in place and leaves the parts alone", () => {
  const parts = { head: create().head(), messages: [] };
  const before = JSON.stringify(parts);
  const state = AgentState.fromParts(parts);
  state.extensions["plugin"] = 1;
  state.openCalls["c"] = "pending";
  state.permissionContext.mode = "explore";
  state.planModeContext.active = true;
  state.tasksContext.tasks = [{ content: "t", status: "pending" }];
  state.toolContext.activatedGroups = ["g"];
  state.contextMutable().push(userMessage("a"));
  expect(JSON.stringify(parts)).toBe(before);
});

test("fromJson copies what it is given", () => {
  const list = [1];
  const state = AgentState.fromJson({ ...create().toJSON(), extensions: { plugin: { list } } });
  list.push(2);
  expect(state.extensions["plugin"]).toEqual({ list: [1] });
});

test("restoreHead takes every section back and leaves the messages", () => {
  fc.assert(
    fc.property(anyState, anyState, (state, other) => {
      const head = state.head();
      const messages = [...state.context];
      state.permissionContext = other.permissionContext;
      state.extensions = other.extensions;
      state.openCalls = other.openCalls;
      state.tasksContext = other.tasksContext;
      state.shutdownInterrupted = !state.shutdownInterrupted;
      state.restoreHead(head);
      expect(isDeepStrictEqual(state.head(), head)).toBe(true);
      expect(isDeepStrictEqual(state.context, messages)).toBe(true);
    }),
    runs(300),
  );
});

test("contextBytes is the size of the messages, kept up to date through every edit", () => {
  fc.assert(
    fc.property(anyState, fc.array(anyMessage), fc.nat(3), (state, messages, at) => {
      const size = () =>
        state.context.reduce((sum, m) => sum + Buffer.byteLength(JSON.stringify(m)), 0);
      expect(state.contextBytes()).toBe(size());
      for (const message of messages) {
        state.contextMutable().push(message);
        expect(state.contextBytes()).toBe(size());
        state.contextMutable().splice(at, 1, message);
        expect(state.contextBytes()).toBe(size());
        state.contextMutable().replace(0, message);
        expect(state.contextBytes()).toBe(size());
      }
      state.contextMutable().replaceAll(messages);
      expect(state.contextBytes()).toBe(size());
    }),
    runs(200),
  );
});
