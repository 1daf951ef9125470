import type { AgentEvent } from "@holdfast/core";
import pico from "picocolors";
import { expect, test } from "vitest";
import { Activity } from "../../../src/chat/screen/activity.js";
import { createTheme } from "../../../src/chat/screen/theme.js";

test("the line says what an event means: waiting, thinking, tools, compacting, and why it retries", () => {
  const activity = new Activity(createTheme(pico.createColors(false), "dark"), "Esc interrupts");
  activity.begin("Starting");
  const after = (event: object): string => {
    activity.note(event as AgentEvent);
    return /^\S+ (.*)… 0 s/u.exec(activity.render(100)[1] ?? "")?.[1] ?? "";
  };
  const usage = { inputTokens: 1, outputTokens: 2 };
  const call = { toolCallId: "c1", name: "read_file" };
  const said = [
    { type: "queue_wait", ahead: 2 },
    { type: "state_loaded" },
    { type: "model_call_start", purpose: "reasoning", attempt: 1 },
    { type: "model_call_end", usage, error: "the line is noisy" },
    { type: "model_call_start", purpose: "reasoning", attempt: 2 },
    { type: "text_delta", text: "x" },
    { type: "tool_call_start", ...call },
    { type: "tool_call_end", ...call, input: {} },
    { type: "tool_result", ...call },
    { type: "compaction_start", messages: 40, tokens: 90_000 },
    { type: "model_call_start", purpose: "summary", attempt: 1 },
    { type: "interrupted" },
  ].map(after);
  expect(said).toEqual([
    "Waiting for the session: 2 other calls first",
    "Thinking",
    "Thinking",
    "Retrying: the line is noisy",
    "Retrying, attempt 2: the line is noisy",
    "Writing",
    "Calling read_file",
    "Running read_file",
    "Thinking",
    "Compacting 40 messages, 90,000 tokens",
    "Summarising the older part of the conversation",
    "Interrupting",
  ]);
  activity.end();
  expect(activity.render(100)).toEqual([]);
});
