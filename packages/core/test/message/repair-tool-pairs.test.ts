import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../arbitraries.js";
import {
  assistantMessage,
  type Block,
  deepFreeze,
  type Message,
  repairToolPairs,
  toolResultMessage,
  toolResultsOf,
  userMessage,
} from "../values.js";
import { accidents, chaos, healthy, openCallIds } from "./conversations.js";
import {
  answersTo,
  callIds,
  isOther,
  ofKind,
  pairingFaults,
  results,
  standsBehind,
} from "./pairing-rules.js";

const conversation = fc.oneof(chaos, accidents);
const none: ReadonlySet<string> = new Set();

describe("whatever the conversation", () => {
  test("the repaired list is valid", () => {
    fc.assert(
      fc.property(conversation, openCallIds, (messages, open) => {
        expect(pairingFaults(repairToolPairs(messages, open).messages, open)).toEqual([]);
      }),
      runs(3_000),
    );
  });

  test("repairing twice changes nothing more", () => {
    fc.assert(
      fc.property(conversation, openCallIds, (messages, open) => {
        const once = repairToolPairs(messages, open);
        const twice = repairToolPairs(once.messages, open);
        expect(twice.messages).toBe(once.messages);
        expect(twice.repairs).toEqual([]);
      }),
      runs(2_000),
    );
  });

  test("closing the open calls later is a repair like any other", () => {
    fc.assert(
      fc.property(conversation, openCallIds, (messages, open) => {
        const later = repairToolPairs(repairToolPairs(messages, open).messages).messages;
        expect(pairingFaults(later, none)).toEqual([]);
      }),
      runs(2_000),
    );
  });

  test("the list is the very same one exactly when there is nothing to report", () => {
    fc.assert(
      fc.property(conversation, openCallIds, (messages, open) => {
        const repaired = repairToolPairs(messages, open);
        expect(repaired.messages === messages).toBe(repaired.repairs.length === 0);
        expect(repaired.messages === messages).toBe(pairingFaults(messages, open).length === 0);
      }),
      runs(2_000),
    );
  });

  test("text, data, thinking and hints stay, all of them, the same objects in the same order", () => {
    fc.assert(
      fc.property(conversation, openCallIds, (messages, open) => {
        const kept = repairToolPairs(messages, open).messages;
        const before = messages.flatMap((message) => message.content.filter(isOther));
        const after = kept.flatMap((message) => message.content.filter(isOther));
        expect(after.length).toBe(before.length);
        expect(after.every((block, index) => block === before[index])).toBe(true);
      }),
      runs(2_000),
    );
  });

  test("the first result after each call is kept by identity, and only interrupted ones are new", () => {
    fc.assert(
      fc.property(conversation, openCallIds, (messages, open) => {
        const kept = new Map(
          results(repairToolPairs(messages, open).messages).map((block) => [
            block.toolCallId,
            block,
          ]),
        );
        const answers = answersTo(messages);
        for (const [callId, { block }] of answers) expect(kept.get(callId)).toBe(block);
        for (const [callId, block] of kept)
          if (!answers.has(callId)) expect(block.state).toBe("interrupted");
      }),
      runs(2_000),
    );
  });

  test("calls of the last assistant message that are open and unanswered stay so, and no others", () => {
    fc.assert(
      fc.property(conversation, openCallIds, (messages, open) => {
        const last = messages.findLastIndex((message) => message.role === "assistant");
        const earlier = new Set(callIds(messages.slice(0, Math.max(last, 0))));
        const answered = answersTo(messages);
        const expected = callIds(messages.slice(last, last + 1)).filter(
          (id) => open.has(id) && !earlier.has(id) && !answered.has(id),
        );
        const repaired = repairToolPairs(messages, open).messages;
        const closed = new Set(results(repaired).map((block) => block.toolCallId));
        const left = callIds(repaired).filter((id) => !closed.has(id));
        expect(left.filter((id) => !expected.includes(id))).toEqual([]);
        expect(expected.filter((id) => closed.has(id))).toEqual([]);
      }),
      runs(2_000),
    );
  });

  test("the repairs say what changed", () => {
    fc.assert(
      fc.property(conversation, openCallIds, (messages, open) => {
        const repaired = repairToolPairs(messages, open);
        const before = results(messages);
        const after = results(repaired.messages);
        const added = after
          .filter((block) => !before.includes(block))
          .map((block) => block.toolCallId);
        expect(ofKind(repaired.repairs, "missing_result").sort()).toEqual(added.sort());

        const left = [...callIds(messages)];
        for (const id of callIds(repaired.messages)) left.splice(left.indexOf(id), 1);
        expect(ofKind(repaired.repairs, "duplicate_call").sort()).toEqual(left.sort());

        const gone = before.map((block) => block.toolCallId);
        for (const block of after)
          if (before.includes(block)) gone.splice(gone.indexOf(block.toolCallId), 1);
        expect(
          [
            ...ofKind(repaired.repairs, "orphan_result"),
            ...ofKind(repaired.repairs, "duplicate_result"),
          ].sort(),
        ).toEqual(gone.sort());

        const moved = [...answersTo(messages)].filter(([callId, { at }]) => {
          const caller = messages.findIndex((message) => callIds([message]).includes(callId));
          return !standsBehind(messages, caller, at);
        });
        expect(ofKind(repaired.repairs, "moved_result").sort()).toEqual(
          moved.map(([callId]) => callId).sort(),
        );
      }),
      runs(2_000),
    );
  });

  test("the input is left exactly as it was, frozen or not", () => {
    fc.assert(
      fc.property(conversation, openCallIds, (messages, open) => {
        const before = structuredClone(messages);
        const frozen = deepFreeze(structuredClone(messages));
        const loose = repairToolPairs(messages, open);
        expect(isDeepStrictEqual(messages, before)).toBe(true);
        expect(messages.some((message) => Object.isFrozen(message))).toBe(false);
        expect(messages.some((m) => m.content.some((block) => Object.isFrozen(block)))).toBe(false);
        expect(isDeepStrictEqual(repairToolPairs(frozen, open), loose)).toBe(true);
      }),
      runs(1_000),
    );
  });

  test("frozen messages give frozen messages", () => {
    fc.assert(
      fc.property(conversation, openCallIds, (messages, open) => {
        const repaired = repairToolPairs(deepFreeze(structuredClone(messages)), open);
        for (const message of repaired.messages) {
          expect(Object.isFrozen(message) && Object.isFrozen(message.content)).toBe(true);
          for (const block of message.content) {
            expect(Object.isFrozen(block)).toBe(true);
            if (block.type === "tool_result")
              expect([block.output, ...block.output].every(Object.isFrozen)).toBe(true);
          }
        }
      }),
      runs(1_000),
    );
  });
});

test("a healthy conversation comes back as the same array", () => {
  fc.assert(
    fc.property(healthy, (messages) => {
      expect(repairToolPairs(messages).messages).toBe(messages);
    }),
    runs(2_000),
  );
});

const call = (id: string): Block => ({ type: "tool_call", id, name: "t", input: {} });
const answer = (toolCallId: string) =>
  ({ type: "tool_result", toolCallId, name: "t", output: [], state: "success" }) as const;

test("an interrupted result follows the results that are there", () => {
  const asked = assistantMessage([call("a"), call("b")], { id: "asked" });
  const b = toolResultMessage(answer("b"), { id: "b" });
  const next = userMessage("next");
  const { messages, repairs } = repairToolPairs([asked, b, next]);
  expect(repairs).toEqual([{ kind: "missing_result", toolCallId: "a" }]);
  expect(messages.map((message) => message.role)).toEqual(["assistant", "tool", "tool", "user"]);
  expect(messages[1]).toBe(b);
  expect(toolResultsOf(messages[2] as Message)).toMatchObject([{ toolCallId: "a", name: "t" }]);
});

test("a late result message moves up whole, the same object", () => {
  const asked = assistantMessage([call("a")]);
  const chat = userMessage("are you there?");
  const late = toolResultMessage(answer("a"));
  const { messages, repairs } = repairToolPairs([asked, chat, late]);
  expect(messages).toEqual([asked, late, chat]);
  expect(messages[1]).toBe(late);
  expect(repairs).toEqual([{ kind: "moved_result", toolCallId: "a" }]);
});

test("a fault elsewhere leaves the order of sound results alone", () => {
  const asked = assistantMessage([call("a"), call("b")]);
  const backwards = toolResultMessage([answer("b"), answer("a")]);
  const orphan = toolResultMessage(answer("x"));
  const { messages } = repairToolPairs([asked, backwards, userMessage("next"), orphan]);
  expect(messages[1]).toBe(backwards);
});

test("a result leaves its token usage behind when it moves out of its message", () => {
  const usage = { inputTokens: 5, outputTokens: 5 };
  const mixed = assistantMessage([call("a"), answer("a")], { usage });
  const { messages } = repairToolPairs([mixed]);
  expect(messages.map((message) => message.usage)).toEqual([usage, undefined]);
});

test("calls closed one after the other get messages with different ids", () => {
  const asked = assistantMessage([call("a"), call("b"), call("c")]);
  const first = repairToolPairs([asked], new Set(["b", "c"])).messages;
  const second = repairToolPairs(first, new Set(["c"])).messages;
  const third = repairToolPairs(second).messages;
  expect(third).toHaveLength(4);
  expect(new Set(third.map((message) => message.id)).size).toBe(4);
});

test("the work grows with the number of messages, not with its square", () => {
  const reads = (count: number) => {
    let touched = 0;
    const messages = Array.from({ length: count }, (_, index) => {
      const content = index % 2 === 0 ? [call(`c${index}`)] : [answer(`c${count - index - 1}`)];
      const message = { id: `m${index}`, role: index % 2 === 0 ? "assistant" : "tool", content };
      return new Proxy(message as unknown as Message, {
        get(target, key, receiver) {
          touched++;
          return Reflect.get(target, key, receiver);
        },
      });
    });
    expect(repairToolPairs(messages).repairs.length).toBeGreaterThan(0);
    return touched;
  };
  expect(reads(10_000)).toBeLessThan(reads(1_000) * 15);
});
