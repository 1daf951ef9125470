import type { AgentEvent, EventBody, Slot } from "@holdfast/core";
import { expect, test } from "vitest";
import { RunningTasks } from "../../src/chat/running-tasks.js";
import { SubagentLines } from "../../src/chat/subagent-lines.js";

const here: Slot = { agentId: "lead", userId: "ada", sessionId: "here" };
const child: Slot = { agentId: "lead/researcher", userId: "ada", sessionId: "task-1" };
const about = { taskId: "task_1", agent: "researcher", label: null };
const started = { type: "task_start", ...about, sessionId: "task-1", attempt: 1 } as const;
const ended = { type: "task_end", ...about, status: "completed", isBackground: true } as const;

function event(body: EventBody, slot: Slot = here, background?: true): AgentEvent {
  return { ...body, slot, callId: "c", seq: 0, ...(background && { background }) };
}

function newLines(hasCommands = true): SubagentLines {
  return new SubagentLines({ hasCommands, isHere: ({ sessionId }) => sessionId === "here" });
}

test("a task of another session says so, and not how to look at it here", () => {
  const other = { ...here, sessionId: "other" };
  expect(newLines().describe(event(ended, other, true))).toMatchObject({
    text: "researcher (for session other) completed",
    depth: 0,
  });
  expect(newLines().describe(event(ended, child, true))?.text).toBe(
    "researcher (for researcher) completed",
  );
  expect(newLines(false).describe(event(ended, here, true))?.text).toBe("researcher completed");
  expect(newLines().describe(event(ended, here, true))?.text).toBe(
    "researcher completed; /tasks task_1 shows the result",
  );
});

test("calls are shown while a call waits for the task, and no more once it is in the background", () => {
  const lines = newLines();
  const input = { path: "a", lines: [1, 2], options: { deep: true } };
  const call = { type: "tool_call_end", toolCallId: "t", name: "look", input } as const;
  const shown = () =>
    lines.describe(event({ type: "subagent_event", ...about, event: event(call, child) }));
  expect(shown()).toBeNull();
  expect(lines.describe(event({ ...started, isBackground: false }))).toBeNull();
  expect(shown()).toEqual({
    kind: "note",
    text: "researcher → look path: a, lines: 1 2, options: …",
    depth: 1,
  });
  expect(lines.describe(event({ type: "task_background", ...about }))?.text).toBe(
    "researcher takes longer and goes on in the background, task_1",
  );
  expect(shown()).toBeNull();
});

test("a task is taken for over when its call has ended, although nothing reports it", async () => {
  const running = new RunningTasks();
  const call = { type: "call_end", reason: "interrupted", durationMs: 1 } as const;
  const usage = { inputTokens: 0, outputTokens: 0 };
  running.note(event({ ...started, isBackground: true }));
  running.note(event({ type: "call_start" }, child));
  expect([running.count, running.has("task_1")]).toEqual([1, true]);
  running.note(event({ ...call, usage }, child));
  await running.finished(new AbortController().signal);
  expect(running.count).toBe(0);
});

test("a wait for tasks ends with its signal", async () => {
  const running = new RunningTasks();
  running.note(event({ ...started, isBackground: true }));
  const left = new AbortController();
  const finished = running.finished(left.signal);
  left.abort();
  await finished;
  expect(running.count).toBe(1);
  running.note(event({ type: "task_waiting", ...about, pending: [], isBackground: true }));
  await running.finished(new AbortController().signal);
});
