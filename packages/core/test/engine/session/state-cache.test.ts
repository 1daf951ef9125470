import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { InMemoryAgentStateStore, type JsonValue, ReActAgent } from "@holdfast/core";
import { describe, expect, test } from "vitest";
import { StateCache } from "../../../src/engine/session/state-cache.js";
import { LiveState } from "../../../src/state/live-state.js";

const collect = collector();
const MAX_BYTES = 8 * 1_048_576;

/** Puts sessions with this state of a plugin into a cache, as their saves do, and returns the bytes each takes. */
function fill(cache: StateCache, sessions: number, value: () => JsonValue): number {
  const before = usedBytes();
  for (let n = 0; n < sessions; n++) {
    const state = LiveState.create({ sessionId: `s${n}` });
    state.extensions = { plugin: value() };
    const head = JSON.stringify(state.head());
    cache.put(`s${n}`, state.successor(head), `1.${n}`, head.length);
  }
  return (usedBytes() - before) / cache.size;
}

/** Collects garbage without `--expose-gc` on the command line. */
function collector(): () => void {
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc");
}

function usedBytes(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

describe("the cache of states counts what a state holds beside its messages", () => {
  test.each<[string, () => JsonValue]>([
    ["text", () => "x".repeat(60_000)],
    ["text of two bytes a character", () => "ж".repeat(30_000)],
    ["numbers", () => Array.from({ length: 20_000 }, (_, n) => n % 10)],
    ["small objects", () => Array.from({ length: 4_000 }, (_, n) => ({ a: n % 10, b: "x" }))],
  ])("states of plugins made of %s stay within maxBytes of real memory", (_, value) => {
    const cache = new StateCache({ maxSessions: 10_000, maxBytes: MAX_BYTES });
    const each = fill(cache, 300, value);
    expect(cache.bytes).toBeLessThanOrEqual(MAX_BYTES);
    expect(cache.size).toBeGreaterThan(10);
    expect(cache.size).toBeLessThan(300);
    expect(each * cache.size).toBeLessThanOrEqual(MAX_BYTES * 1.1);
  });

  test("an agent with large heads keeps as many sessions as fit, and loads the others anew", async () => {
    const loads: string[] = [];
    const agent = new ReActAgent({
      name: "a",
      stateStore: new InMemoryAgentStateStore(),
      stateCache: { maxBytes: 2_000_000 },
      onEvent: (event) => {
        if (event.type === "state_loaded") loads.push(event.source);
      },
      model: {
        id: "m",
        async *stream() {
          yield { type: "text_delta", text: "ok" };
          yield { type: "finish", reason: "stop", usage: { inputTokens: 1, outputTokens: 1 } };
        },
      },
    });
    const sessions = Array.from({ length: 20 }, (_, n) => `s${n}`);
    for (const sessionId of sessions)
      await agent.updateAgentState({ sessionId }, (state) => {
        state.extensions["plugin"] = "x".repeat(100_000);
      });
    loads.length = 0;
    for (const sessionId of sessions.toReversed()) await agent.call("go", { sessionId });
    expect(loads.filter((source) => source === "cache").length).toBeGreaterThanOrEqual(1);
    // 100,000 characters are counted as 400,000 bytes: four of them fit.
    expect(loads.filter((source) => source === "cache").length).toBeLessThanOrEqual(4);
  });

  test("remembered calls count as well", () => {
    const record = (callId: string) => ({ callId, messageId: "m", reason: "stop" });
    const plain = LiveState.create({ sessionId: "s" });
    const head = JSON.stringify(plain.head());
    const cache = new StateCache({ maxSessions: 10, maxBytes: MAX_BYTES });
    cache.put("s", plain, "1.s", head.length);
    const before = cache.bytes;
    let state = plain;
    for (let n = 0; n < 50; n++)
      state = state.successor(head, { record: record(`c${n}`), keep: 100 });
    cache.put("s", state, "2.s", head.length);
    expect(cache.bytes).toBeGreaterThan(before + 50 * 300);
  });
});
