import type { ToolCallStep, ToolResultBlock } from "@holdfast/core";
import { context, type Span } from "@opentelemetry/api";
import { clippedJson } from "../content/clip.js";
import { outputJson } from "../content/messages-json.js";
import { errorType } from "../error-type.js";
import { attribute } from "../names.js";
import { quietly } from "../quietly.js";
import { endSpan, fail, withSpan } from "../telemetry.js";
import type { CallTrace } from "./call-trace.js";

/** Runs a tool call in a span of its own, which is active while the tool runs. */
export async function traceTool(
  call: CallTrace,
  step: ToolCallStep,
  next: () => Promise<ToolResultBlock>,
): Promise<ToolResultBlock> {
  const { telemetry, owner } = call;
  const { content, maxContentChars } = telemetry.settings;
  const parent = call.inside();
  const began = performance.now();
  // The registered name: a model may write anything.
  const tool = step.tool.name;
  const span = telemetry.start(owner, {
    subject: "tool_call",
    name: `execute_tool ${tool}`,
    parent,
    tool,
    attributes: {
      [attribute.operation]: "execute_tool",
      [attribute.toolName]: tool,
      [attribute.toolCallId]: step.call.id,
      [attribute.toolType]: "function",
    },
  });
  const show = (name: string, json: () => string): void => {
    if (content && span.isRecording()) quietly(() => span.setAttribute(name, json()));
  };
  show(attribute.toolArguments, () => clippedJson(step.call.input, maxContentChars));
  let failure: string | undefined;
  try {
    const result = await context.with(withSpan(parent, span), next);
    failure = failureOf(span, result);
    show(attribute.toolResult, () => outputJson(result, maxContentChars));
    return result;
  } catch (error) {
    if (isSuspension(error)) span.setAttribute(attribute.toolState, "suspended");
    else failure = errorType(error);
    throw error;
  } finally {
    if (failure !== undefined) fail(span, failure);
    telemetry.instruments.toolDuration.record((performance.now() - began) / 1_000, {
      [attribute.agentName]: telemetry.agentOf(owner.slot).name,
      [attribute.toolName]: tool,
      ...(failure !== undefined && { [attribute.errorType]: failure }),
    });
    endSpan(span, owner.clock.now());
  }
}

/** Returns the failure by the result's state alone: an error thrown by a tool is a result by now, and its text may quote contents. */
function failureOf(span: Span, { state }: ToolResultBlock): string | undefined {
  span.setAttribute(attribute.toolState, state);
  if (state === "success") return undefined;
  return state === "error" ? "tool_error" : state;
}

/** Checks the name, because the class is internal to the engine. */
function isSuspension(error: unknown): boolean {
  return error instanceof Error && error.name === "CallSuspended";
}
