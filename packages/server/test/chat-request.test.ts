import type { PendingCall } from "@holdfast/core";
import { describe, expect, test } from "vitest";
import { answerCall, chatRequest, wordsCall } from "../src/ai-sdk/chat-request.js";

const asking: PendingCall = { toolCallId: "a", name: "pay", input: {}, state: "asking" };
const suspended: PendingCall = { toolCallId: "s", name: "scan", input: {}, state: "suspended" };

function request(parts: readonly object[], approvals: object = {}) {
  return chatRequest({ id: "trip", message: { role: "assistant", parts }, approvals });
}

describe("answers", () => {
  test("count for calls that ask, and for no others", () => {
    const part = (toolCallId: string) => ({
      type: "dynamic-tool",
      toolCallId,
      state: "approval-responded",
      approval: { id: toolCallId, approved: true },
    });
    const { input } = answerCall(request([part("a"), part("s"), part("x")]), [asking, suspended]);
    expect(input).toEqual({ confirm: [{ toolCallId: "a", approve: true }] });
    expect(() => answerCall(request([part("s"), part("x")]), [asking, suspended])).toThrow(
      /Nothing is waiting/,
    );
  });

  test("have the same id whatever they say, so that a second answer is told from a first one", () => {
    const yes = answerCall(request([], { a: { approve: true } }), [asking]);
    const no = answerCall(request([], { a: { approve: false, reason: "late" } }), [asking]);
    expect(no.callId).toBe(yes.callId);
    expect(no.input).toEqual({ confirm: [{ toolCallId: "a", approve: false, reason: "late" }] });
  });

  test("have another id for the approval of a call than for its result, which come one after the other", () => {
    const approved = answerCall(request([], { s: { approve: true } }), [
      { ...suspended, state: "asking" },
    ]);
    const part = { type: "dynamic-tool", toolCallId: "s", state: "output-available", output: 1 };
    const given = answerCall(request([part]), [suspended]);
    expect(given.input).toEqual({ results: [{ toolCallId: "s", output: 1 }] });
    expect(given.callId).not.toBe(approved.callId);
  });

  test("are refused with fields that mean nothing", () => {
    expect(() => request([], { a: { aprove: true } })).toThrow(/not one of a chat/);
  });
});

test.each([{}, { messages: [] }, { prompt: "Hello." }])(
  "a request with neither a message nor an answer is none of a chat: %j",
  (body) => {
    expect(() => chatRequest({ id: "trip", ...body })).toThrow(/not one of a chat/);
    expect(chatRequest({ id: "trip", ...body, approvals: { a: {} } }).message).toBeUndefined();
  },
);

test("words keep their id and files, and files of no place on the web are refused", () => {
  const url = "data:image/png;base64,AAAA";
  const parts = [
    { type: "text", text: "Look." },
    { type: "file", mediaType: "image/png", url, filename: "a.png" },
  ];
  const { input, callId } = wordsCall({ id: "m-1", role: "user", parts });
  expect(callId).toBe("message-m-1");
  expect(input).toMatchObject({
    id: "m-1",
    content: [
      { type: "text", text: "Look." },
      { type: "data", mediaType: "image/png", name: "a.png", source: { data: "AAAA" } },
    ],
  });
  const local = { type: "file", mediaType: "a/b", url: "file:///etc/passwd" };
  expect(() => wordsCall({ role: "user", parts: [local] })).toThrow(/not one of a chat/);
});
