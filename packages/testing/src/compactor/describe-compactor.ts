import assert from "node:assert/strict";
import {
  type AgentState,
  type Compactor,
  type Message,
  RuntimeContext,
  repairToolPairs,
  userMessage,
} from "@holdfast/core";
import { type CompactionRequest, isContextOverflow } from "@holdfast/core/plugin-kit";
import fc from "fast-check";
import {
  type ConformanceCase,
  caseFactory,
  registerCases,
  type SubjectOptions,
} from "../conformance/conformance-case.js";
import { sampleSlot } from "../conformance/sample-slots.js";
import { scaled } from "../conformance/scaled.js";
import { scriptedModel } from "../model/scripted-model.js";
import { conversations, longConversation, stateOf } from "./sample-conversations.js";

/** Options of {@link describeCompactor}. */
export interface CompactorOptions extends SubjectOptions<Compactor> {
  /** Overrides sent with every request, for example a shorter tail. @default none */
  readonly overrides?: CompactionRequest["overrides"] | undefined;
}

/** Registers the tests every `Compactor` must pass. */
export function describeCompactor(name: string, options: CompactorOptions): void {
  registerCases(`${name} as a Compactor`, compactorCases(options), options);
}

/** The cases of {@link describeCompactor}. */
export function compactorCases(options: CompactorOptions): ConformanceCase[] {
  const check = caseFactory(options);
  const request = (
    state: AgentState,
    fields: Partial<CompactionRequest> = {},
  ): CompactionRequest => {
    const ctx = RuntimeContext.of({ sessionId: state.sessionId, userId: state.userId });
    ctx.agentState = state;
    return {
      slot: sampleSlot,
      state,
      ctx,
      cause: "manual",
      force: true,
      overrides: options.overrides ?? {},
      signal: new AbortController().signal,
      model: scriptedModel(() => "A summary of what was said."),
      prompt: { system: "You are a helpful assistant.", tools: [] },
      isOverflow: (error) => isContextOverflow(error),
      dropping: async () => {},
      emit: () => {},
      mark: () => {},
      ...fields,
    };
  };
  return [
    check(
      "a forced compaction shortens a long context and tells by how much",
      async (compactor) => {
        const state = longConversation();
        const before = state.context.length;
        const result = await compactor.compact(request(state));
        assert.equal(result.compacted, true);
        assert.equal(result.failure, undefined);
        assert.equal(result.messagesBefore, before);
        assert.equal(result.messagesAfter, state.context.length);
        assert.ok(state.context.length < before);
      },
    ),
    check("a short context is left alone unless forced", async (compactor) => {
      const state = stateOf([userMessage("hello")]);
      const before = [...state.context];
      const result = await compactor.compact(request(state, { force: false }));
      assert.equal(result.compacted, false);
      assertSame(state, before);
    }),
    check("before a step a short context is left alone", async (compactor) => {
      const state = stateOf([userMessage("hello")]);
      const before = [...state.context];
      const result = await compactor.compact(request(state, { cause: "step", force: false }));
      assert.equal(result.compacted, false);
      assert.equal(result.failure, undefined, "having nothing to do is not a failure");
      assertSame(state, before);
    }),
    check("messages are announced before they leave, all of them", async (compactor) => {
      const state = longConversation();
      const before = [...state.context];
      const announced = new Set<string>();
      const dropping = async (messages: readonly Message[]): Promise<void> => {
        for (const message of messages) {
          assert.ok(state.context.includes(message), "it is still there when announced");
          announced.add(message.id);
        }
      };
      await compactor.compact(request(state, { dropping }));
      const left = before.filter(({ id }) => !state.context.some((message) => message.id === id));
      assert.ok(left.length > 0);
      for (const { id } of left) assert.ok(announced.has(id), "what left was announced");
    }),
    check(
      "whatever the conversation: pairs whole, request kept, nothing else changed",
      async (compactor) => {
        const property = fc.asyncProperty(conversations(), async (messages) => {
          const state = stateOf(messages);
          const head = JSON.stringify(state.head());
          const asked = messages.findLast(({ role }) => role === "user");
          await compactor.compact(request(state));
          assert.equal(JSON.stringify(state.head()), head, "only the context changes");
          if (asked !== undefined)
            assert.ok(
              state.context.some(({ id }) => id === asked.id),
              "the current request",
            );
          assertPaired(state.context);
        });
        await fc.assert(property, { numRuns: scaled(30, 500) });
      },
    ),
    check("when it fails or is aborted the context is as it was", async (compactor) => {
      const failing: Partial<CompactionRequest>[] = [
        { signal: AbortSignal.abort(new Error("enough")) },
        {
          dropping: async () => {
            throw new TypeError("the listener refused the messages");
          },
        },
      ];
      for (const fields of failing) {
        const state = longConversation();
        const before = [...state.context];
        const result = await compactor.compact(request(state, fields)).catch(() => null);
        assert.ok(result === null || !result.compacted, "a failure is not reported as success");
        assertSame(state, before);
      }
    }),
  ];
}

function assertSame(state: AgentState, before: readonly Message[]): void {
  assert.equal(state.context.length, before.length);
  for (const [index, message] of before.entries())
    assert.equal(state.context[index], message, "the very same messages");
}

function assertPaired(context: readonly Message[]): void {
  const { repairs } = repairToolPairs(context);
  assert.deepStrictEqual(repairs, [], "every call has its result and every result its call");
}
