import type { PendingCall } from "../../events/agent-reply.js";
import { createMessage } from "../../message/create-message.js";
import type { HintBlock, Message } from "../../message/message.js";
import { textOf, toolCallsOf } from "../../message/read-message.js";
import type { AgentParts } from "../assemble/agent-parts.js";
import type { CallScope } from "../call-scope.js";
import { sayInput } from "../save/save-opening.js";
import { saveStep } from "../save/save-session.js";
import { writeAhead } from "../save/write-log.js";
import { CallStopped } from "../session/stop-switch.js";
import { takeDeferred, takeSteered } from "../session/take-steered.js";
import { type Acted, act } from "../tools/acting.js";
import { endToolCalls } from "../tools/close-calls.js";
import { openCallsOf } from "../tools/open-calls.js";
import { answerableTogether, waitingCalls } from "../tools/waiting-calls.js";
import { ENDED_BY_DENIAL, type Resumption } from "../turn-input.js";
import { discardAttempt } from "./ask-models.js";
import { fitReply } from "./fit-reply.js";
import { type Reasoned, reason } from "./reasoning.js";
import { StructuredOutput, type StructuredReply } from "./structured-output.js";

/** End of the loop, of which the turn makes a reply. */
export type LoopEnd =
  | {
      readonly reason: "stop" | "max_iterations" | "middleware_stop" | "interrupted";
      readonly message: Message;
    }
  | {
      readonly reason: "permission_asking" | "tool_suspended";
      readonly message: Message;
      readonly pending: readonly PendingCall[];
    }
  | { readonly reason: "structured_output"; readonly message: Message; readonly output: unknown };

/** Reasons and acts in turn until the model has answered, a person has to be asked, or the limit is reached. */
export async function runLoop(scope: CallScope, resumption: Resumption): Promise<LoopEnd> {
  const { session, parts } = scope;
  if (resumption.calls.length > 0) {
    const acted = await act(scope, resumption.calls, resumption);
    scope.stop.check();
    if (resumption.ends) endToolCalls(scope, { text: ENDED_BY_DENIAL });
    const end = await endAfter(scope, acted);
    if (end) {
      // Behind open calls the input waits in the context: requests put the results where they belong.
      sayInput(scope);
      return end;
    }
    await saveStep(scope);
  }
  if (resumption.ends) return { reason: "interrupted", message: lastAssistant(scope) };
  if (openCallsOf(session.state).length > 0) return waitingEnd(scope);
  if (session.deferred.length > 0) await takeDeferred(scope);
  sayInput(scope);
  let output = structuredOutput(scope);
  for (let iteration = 0; ; iteration++) {
    scope.checkpoint();
    if (scope.steering.isTold) await takeSteered(scope);
    if (session.log.holdsMore) await writeAhead(scope);
    const reasoned = await think(scope, iteration, output);
    const { message, stopRequested } = reasoned;
    const structured = output && (await readOutput(scope, output, reasoned));
    if (structured === "again" && !stopRequested) {
      if (iteration + 1 < parts.settings.maxIterations) continue;
      return explain(scope);
    }
    if (structured && structured !== "again") {
      session.say(structured.message);
      if (!(await goesOn(scope, iteration))) return { reason: "structured_output", ...structured };
      output = structuredOutput(scope);
      continue;
    }
    session.say(fitReply(message, parts.settings.limits.messageBytes), message);
    const calls = toolCallsOf(message);
    if (calls.length === 0) {
      if (stopRequested) return { reason: "middleware_stop", message };
      if (await goesOn(scope, iteration)) continue;
      return { reason: "stop", message };
    }
    for (const { id } of calls) {
      session.state.openCalls[id] = "pending";
      scope.notBegun.add(id);
    }
    if (stopRequested) {
      endToolCalls(scope, { text: "Not run: the call was ended before it." });
      return { reason: "middleware_stop", message };
    }
    if (iteration + 1 >= parts.settings.maxIterations) return explain(scope);
    scope.checkpoint();
    const acted = await act(scope, calls);
    scope.stop.check();
    const end = await endAfter(scope, acted);
    if (end) return end;
    await saveStep(scope);
  }
}

/** Tells whether the model is asked again although it has answered: the call was steered meanwhile. */
async function goesOn(scope: CallScope, iteration: number): Promise<boolean> {
  if (iteration + 1 >= scope.parts.settings.maxIterations) return false;
  return scope.steering.isTold && takeSteered(scope);
}

function structuredOutput({ ctx, parts, slot }: CallScope): StructuredOutput | null {
  return ctx.output ? new StructuredOutput(ctx.output, hasResponseFormat(parts), slot) : null;
}

/** A run that goes on behind words of its own that were cut off must not have the model continue them in mid-sentence. */
function cutOffHints({ session }: CallScope, iteration: number): readonly HintBlock[] {
  const last = session.state.messages.at(-1);
  if (iteration > 0 || last?.role !== "assistant") return [];
  const text =
    "Your reply above was cut off before its end. Answer the request now, completely and from the beginning.";
  return [{ type: "hint", source: "cut_off", text }];
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
    hints: [...cutOffHints(scope, iteration), ...(output?.hints ?? [])],
    transient: output?.transient ?? [],
    tools: output?.tools ?? [],
    toolChoice: output?.toolChoice,
    output: output?.nativeSchema,
  });
}

/** Reads a structured reply; one that does not fit was streamed for nothing. */
async function readOutput(
  scope: CallScope,
  output: StructuredOutput,
  { message, draft, stopRequested }: Reasoned,
): Promise<StructuredReply | "again" | null> {
  let structured: StructuredReply | "again" | null = "again";
  try {
    structured = await output.read(message);
    return structured;
  } finally {
    if (structured === "again" && !stopRequested && draft)
      discardAttempt(scope, draft, "invalid_output");
  }
}

/** At the limit: what is open is closed, and one last model call without tools says where things stand. */
async function explain(scope: CallScope): Promise<LoopEnd> {
  const { session, parts } = scope;
  const limit = parts.settings.maxIterations;
  endToolCalls(scope, {
    text: `Not run: the limit of ${limit} steps was reached.`,
    resultState: "error",
  });
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

/** Returns how the call ends after its tools, or null when the model is asked next. */
async function endAfter(
  scope: CallScope,
  { pending, stopRequested }: Acted,
): Promise<LoopEnd | null> {
  if (openCallsOf(scope.session.state).length > 0) return waitingEnd(scope, pending);
  return stopRequested ? { reason: "middleware_stop", message: lastAssistant(scope) } : null;
}

/** Ends the call while tool calls wait for an answer: the reply lists those that ask, else those that are suspended. */
async function waitingEnd(scope: CallScope, known: readonly PendingCall[] = []): Promise<LoopEnd> {
  const waiting = await waitingCalls(scope, known);
  const pending = answerableTogether(waiting);
  const reason = pending[0]?.state === "asking" ? "permission_asking" : "tool_suspended";
  return { reason, message: lastAssistant(scope), pending };
}

function lastAssistant(scope: CallScope): Message {
  return scope.session.state.messages.findLast(({ role }) => role === "assistant") as Message;
}
