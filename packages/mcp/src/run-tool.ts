import { suspend, type ToolCallContext } from "@holdfast/core";
import { slotKey } from "@holdfast/core/store-kit";
import { AskingCall } from "./asking/asking-call.js";
import type { HeldCalls } from "./asking/held-calls.js";
import { CallDeadline } from "./call-deadline.js";
import { callTool, type ServerCall } from "./call-tool.js";
import type { CallServer } from "./connection/call-server.js";
import { redactor } from "./connection/redactor.js";

/**
 * Runs a tool call, or goes on with one that waits for the answer which the context brings: in this process the server's
 * question is still open, otherwise the tool is called anew and gets the recorded answers.
 *
 * @returns the tool's result, or a suspension with the server's question
 */
export async function runTool(
  held: HeldCalls,
  server: CallServer,
  call: Omit<ServerCall, "slot">,
  ctx: ToolCallContext,
): Promise<unknown> {
  const { slot, answers, toolCallId } = ctx;
  const { name, endpoint, timeoutMs, maxTimeoutMs, questionTimeoutMs } = server.settings;
  const key = `${slotKey(slot)} ${toolCallId}`;
  const last = answers.at(-1);
  const before = held.take(key);
  const goesOn = before && last && before.answer(last);
  // It has ended, or waits for another answer.
  if (before && !goesOn) before.end();
  const running = goesOn
    ? before
    : new AskingCall({
        deadline: new CallDeadline(timeoutMs, maxTimeoutMs),
        answers,
        reason: `the MCP server ${name} asks`,
        redact: redactor(endpoint),
        start: (port) => callTool(server, { ...call, slot }, port),
      });
  const outcome = await running.outcome(ctx);
  if ("result" in outcome) return outcome.result;
  if (!running.isOver) held.hold(key, running, questionTimeoutMs);
  return suspend(outcome.reason, { question: outcome.question });
}
