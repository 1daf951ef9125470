import assert from "node:assert/strict";
import {
  AgentState,
  type JsonValue,
  RuntimeContext,
  type Tool,
  type ToolDecision,
  type ToolGuard,
  tool,
} from "@holdfast/core";
import type { GuardedCall } from "@holdfast/core/plugin-kit";
import { anyInput } from "../any-input.js";
import {
  type ConformanceCase,
  caseFactory,
  registerCases,
  type SubjectOptions,
} from "../conformance/conformance-case.js";
import { sampleSlot as slot } from "../conformance/sample-slots.js";

/** A tool call and what the guard must say about it. */
export interface ExpectedDecision {
  readonly tool: Tool;
  readonly input: JsonValue;
  /** Absent: any decision will do. */
  readonly decision?: ToolDecision["decision"] | undefined;
}

/** Options of {@link describeToolGuard}. */
export interface ToolGuardOptions extends SubjectOptions<ToolGuard> {
  /** @default calls of a reading and of a writing tool, with any decision */
  readonly calls?: readonly ExpectedDecision[] | undefined;
  /** Puts the session's state where the guard works, for example a permission mode. */
  prepare?(state: AgentState): void;
}

/** Registers the tests every `ToolGuard` must pass. */
export function describeToolGuard(name: string, options: ToolGuardOptions): void {
  registerCases(`${name} as a ToolGuard`, toolGuardCases(options), options);
}

/** The cases of {@link describeToolGuard}. */
export function toolGuardCases(options: ToolGuardOptions): ConformanceCase[] {
  const check = caseFactory(options);
  const calls = options.calls ?? sampleCalls();
  const guarded = (): { call: GuardedCall; expected: ExpectedDecision; state: AgentState }[] =>
    calls.map((expected, index) => {
      const state = AgentState.create(slot);
      options.prepare?.(state);
      const ctx = RuntimeContext.of({ userId: slot.userId, sessionId: slot.sessionId });
      ctx.agentState = state;
      const { tool: asked, input } = expected;
      const block = { type: "tool_call", id: `c-${index}`, name: asked.name, input } as const;
      const call = { call: Object.freeze(block), tool: asked, input, slot, ctx };
      return { call: { ...call, remembered: async () => [] }, expected, state };
    });
  return [
    check("every decision is allow, deny or ask, and the last two say why", async (guard) => {
      for (const { call, expected } of guarded()) {
        const decision = await guard.check(call);
        assert.ok(["allow", "deny", "ask"].includes(decision.decision));
        if (decision.decision !== "allow") assert.ok(decision.reason.length > 0, "a reason");
        if (expected.decision !== undefined)
          assert.equal(decision.decision, expected.decision, `the decision on ${call.call.name}`);
      }
    }),
    check("deciding changes nothing, so asking again gives the same answer", async (guard) => {
      for (const { call, state } of guarded()) {
        const before = state.toJson();
        const first = await guard.check(call);
        assert.deepStrictEqual(await guard.check(call), first);
        assert.equal(state.toJson(), before, "the state is as it was");
      }
    }),
    check("decisions at once do not mix", async (guard) => {
      const asked = guarded();
      const alone: ToolDecision[] = [];
      for (const { call } of asked) alone.push(await guard.check(call));
      const together = await Promise.all(asked.map(async ({ call }) => guard.check(call)));
      assert.deepStrictEqual(together, alone);
    }),
  ];
}

function sampleCalls(): ExpectedDecision[] {
  const input = anyInput;
  const read = tool({ name: "read_file", description: "Reads a file.", input, readOnly: true });
  const write = tool({ name: "write_file", description: "Writes a file.", input });
  return [
    { tool: read, input: { path: "a.txt" } },
    { tool: write, input: { path: "a.txt", content: "x" } },
    { tool: write, input: { path: "../../etc/passwd", content: "" } },
  ];
}
