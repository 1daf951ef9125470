import type { PendingCall } from "../../events/agent-reply.js";
import { createMessage } from "../../message/create-message.js";
import type { Message } from "../../message/message.js";
import { textOf, toolCallsOf } from "../../message/read-message.js";
import type { AgentParts } from "../assemble/agent-parts.js";
import type { CallScope } from "../call-scope.js";
import { saveStep, writeAhead } from "../save/save-session.js";
import { CallStopped } from "../session/stop-switch.js";
import { type Acted, act } from "../tools/acting.js";
import { closeCalls, openCallsOf } from "../tools/close-calls.js";
import type { Resumption } from "../tools/resume.js";
import { fitReply } from "./fit-reply.js";
import { type Reasoned, reason } from "./reasoning.js";
import { StructuredOutput } from "./structured-output.js";

/** How the loop ended; the call makes a reply of it. */
export type LoopEnd =
  | { readonly reason: "stop" | "max_iterations" | "middleware_stop"; readonly message: Message }
  | {
      readonly reason: "permission_asking" | "tool_suspended";
      readonly message: Message;
      readonly pending: readonly PendingCall[];
    }
  | { readonly reason: "structured_output"; readonly message: Message; readonly output: unknown };

/** Reason, act, reason … until the model has answered, somebody has to be asked, or the limit is reached. */
export async function runLoop(scope: CallScope, resumption: Resumption): Promise<LoopEnd> {
  const { session, parts, newInput } = scope;
  if (resumption.calls.length > 0) {
    const acted = await act(scope, resumption.calls, resumption.approved);
    scope.stop.check();
    const end = endAfter(scope, acted);
    if (end) {
      // Behind open calls the input waits in the context: requests put the results where they belong.
      for (const message of newInput) session.say(message);
      return end;
    }
    await saveStep(scope);
  }
  const still = openCallsOf(session.state);
  if (still.length > 0) return stillWaiting(scope, still);
  for (const message of newInput) session.say(message);
  const output = scope.ctx.output
    ? new StructuredOutput(scope.ctx.output, hasResponseFormat(parts), scope.slot)
    : null;
  for (let iteration = 0; ; iteration++) {
    scope.checkpoint();
    if (session.log.holdsMore) await writeAhead(scope);
    const { message, stopRequested } = await think(scope, iteration, output);
    const structured = await output?.read(message);
    if (structured === "again" && !stopRequested) {
      if (iteration + 1 < parts.settings.maxIterations) continue;
      return explain(scope);
    }
    if (structured && structured !== "again") {
      session.say(structured.message);
      return { reason: "structured_output", ...structured };
    }
    session.say(fitReply(message, parts.settings.limits.messageBytes), message);
    const calls = toolCallsOf(message);
    if (calls.length === 0) return { reason: stopRequested ? "middleware_stop" : "stop", message };
    for (const { id } of calls) session.state.openCalls[id] = "pending";
    if (stopRequested) {
      closeCalls(session, () => true, "Not run: the call was ended before it.");
      return { reason: "middleware_stop", message };
    }
    if (iteration + 1 >= parts.settings.maxIterations) return explain(scope);
    scope.checkpoint();
    const acted = await act(scope, calls);
    scope.stop.check();
    const end = endAfter(scope, acted);
    if (end) return end;
    await saveStep(scope);
  }
}

/** The fallback model gets the same request, so that it counts as well. */
function hasResponseFormat({ model, fallbackModel = model }: AgentParts): boolean {
  return (model.structuredOutput ?? false) && (fallbackModel.structuredOutput ?? false);
}

function think(
  scope: CallScope,
  iteration: number,
  output: StructuredOutput | null,
): Promise<Reasoned> {
  return reason(scope, {
    iteration,
    purpose: "reasoning",
    hints: output?.hints ?? [],
    transient: output?.transient ?? [],
    tools: output?.tools ?? [],
    toolChoice: output?.toolChoice,
    output: output?.nativeSchema,
  });
}

/** At the limit: what is open is closed, and one last model call without tools says where things stand. */
async function explain(scope: CallScope): Promise<LoopEnd> {
  const { session, parts } = scope;
  const limit = parts.settings.maxIterations;
  closeCalls(session, () => true, `Not run: the limit of ${limit} steps was reached.`, "error");
  scope.checkpoint();
  let message: Message;
  try {
    const reasoned = await reason(scope, {
      iteration: limit,
      purpose: "explanation",
      hints: [
        {
          type: "hint",
          source: "max_iterations",
          text: `The limit of ${limit} steps for one request is reached and no more tools can run now. Tell the user what was done, what is left, and how to go on.`,
        },
      ],
      transient: [],
      tools: null,
    });
    message = withoutCalls(reasoned.message);
  } catch (error) {
    if (error instanceof CallStopped || scope.stop.kind !== null) throw error;
    message = createMessage(
      "assistant",
      `I stopped after ${limit} steps before the task was finished. Ask me to go on.`,
      { createdAt: parts.now() },
    );
  }
  session.say(fitReply(message, parts.settings.limits.messageBytes), message);
  return { reason: "max_iterations", message };
}

/** A model may call tools although none were offered. */
function withoutCalls(message: Message): Message {
  if (toolCallsOf(message).length === 0) return message;
  const content = message.content.filter(({ type }) => type !== "tool_call");
  const { id, createdAt, usage } = message;
  return createMessage(
    "assistant",
    textOf(message).trim() === "" ? "I reached the limit of steps for one request." : content,
    { id, createdAt, usage },
  );
}

/** How the call ends after its tools, or null when the model is asked next. */
function endAfter(scope: CallScope, { reason, pending, stopRequested }: Acted): LoopEnd | null {
  const message = lastAssistant(scope);
  if (reason !== null) return { reason, message, pending };
  return stopRequested ? { reason: "middleware_stop", message } : null;
}

/** Some calls were answered, others still wait. */
function stillWaiting(scope: CallScope, open: ReturnType<typeof openCallsOf>): LoopEnd {
  const asking = open.filter(({ state }) => state === "asking");
  const left = asking.length > 0 ? asking : open;
  return {
    reason: asking.length > 0 ? "permission_asking" : "tool_suspended",
    message: lastAssistant(scope),
    pending: left.map(({ call }) => ({
      toolCallId: call.id,
      name: call.name,
      input: call.input,
      state: asking.length > 0 ? "asking" : "suspended",
    })),
  };
}

function lastAssistant(scope: CallScope): Message {
  return scope.session.state.context.findLast(({ role }) => role === "assistant") as Message;
}
