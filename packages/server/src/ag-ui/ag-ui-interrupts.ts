import type { PendingCall } from "@holdfast/core";
import type { AgUiInterrupt, AgUiOutcome } from "./ag-ui-event.js";

const answerSchema = {
  type: "object",
  properties: {
    approved: { type: "boolean" },
    editedArgs: { type: "object", description: "Arguments in place of the model's." },
    reason: { type: "string", description: "Told to the agent when denied." },
    remember: { enum: ["session", "user"], description: "Remembers the suggested rules." },
  },
  required: ["approved"],
};

/** Returns the id of the interrupt for a call: that of a question has its number, so that an answer alone tells what it is for. */
export function interruptIdOf({ toolCallId, question, questionNumber = 1 }: PendingCall): string {
  return question ? `${toolCallId}#${questionNumber}` : toolCallId;
}

/** Returns the tool call that an interrupt is for. */
export function interruptedCall(interruptId: string): string {
  return interruptId.replace(/#\d+$/, "");
}

/** Returns how a run ends whose tool calls wait: with questions to a person, or for results of tools that the client runs. */
export function waitingOutcome(
  pending: readonly PendingCall[],
  protocolVersion: string | undefined,
): AgUiOutcome {
  const asking = pending.filter(({ state }) => state === "asking");
  if (asking.length > 0) return { type: "interrupt", interrupts: asking.map(interruptOf) };
  const questions = pending.filter(({ question }) => question !== undefined);
  if (questions.length > 0) return { type: "interrupt", interrupts: questions.map(questionOf) };
  // Clients before 1.0 fail at the field.
  if (protocolVersion === undefined) return { type: "success" };
  return { type: "success", pendingToolCallIds: pending.map(({ toolCallId }) => toolCallId) };
}

/** The question of a tool: what the person fills in is the payload of the answer. */
function questionOf(call: PendingCall): AgUiInterrupt {
  const { toolCallId, name, question, questionNumber, agent } = call;
  return {
    id: interruptIdOf(call),
    reason: "input_required",
    message: question?.message ?? "",
    ...(agent === undefined && { toolCallId }),
    responseSchema: question?.schema ?? { type: "object", properties: {} },
    metadata: {
      name,
      ...(question?.url !== undefined && { url: question.url }),
      ...(questionNumber !== undefined && { questionNumber }),
    },
  };
}

function interruptOf(call: PendingCall): AgUiInterrupt {
  const { toolCallId, name, input, reason, suggestions, agent, label } = call;
  return {
    id: toolCallId,
    reason: "tool_call",
    message: reason ?? `May ${name} run?`,
    // The call of a subagent is not among the messages.
    ...(agent === undefined && { toolCallId }),
    responseSchema: answerSchema,
    metadata: {
      name,
      input,
      ...(suggestions && { suggestions }),
      ...(agent !== undefined && { agent }),
      ...(label !== undefined && { label }),
    },
  };
}
