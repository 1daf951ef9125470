import type { PendingCall } from "../../events/agent-reply.js";
import { excerptAt, jsonProblem } from "../../json/json-problem.js";
import type { ToolCallBlock, ToolResultBlock } from "../../message/message.js";
import type { GuardedCall, ToolDecision } from "../../ports/tool-guard.js";
import { validateInput } from "../../tool/input-schema.js";
import type { Tool } from "../../tool/tool.js";
import type { CallScope } from "../call-scope.js";
import { RememberedRules } from "../session/remembered-rules.js";
import { activeTools } from "./tool-box.js";
import { textResult } from "./tool-results.js";

/** Decision about a call: it may run, must ask, or is answered already. */
export type Verdict =
  | { readonly kind: "answered"; readonly result: ToolResultBlock }
  | { readonly kind: "ask"; readonly pending: PendingCall }
  | { readonly kind: "run"; readonly tool: Tool; readonly input: unknown };

/**
 * Finds the tool, checks the input and asks the guards.
 *
 * A call that cannot run is answered with words the model can act on, before any person is asked about it.
 */
export async function judgeCall(
  scope: CallScope,
  call: ToolCallBlock,
  approved: boolean,
): Promise<Verdict> {
  const { parts, session } = scope;
  const offered = activeTools(session.state, parts.tools, parts.toolGroups);
  const tool = offered.find(({ name }) => name === call.name);
  if (!tool) {
    const text = parts.tools.get(call.name)
      ? `${call.name} is switched off in this session.`
      : `There is no tool ${call.name}. There are: ${offered.map(({ name }) => name).join(", ") || "none"}.`;
    return { kind: "answered", result: textResult(call, text, "error") };
  }
  const validation = await validateInput(tool.input, call.input);
  if (validation.problem !== undefined)
    return {
      kind: "answered",
      result: textResult(call, invalidInput(call, validation.problem), "error"),
    };
  const decision = await parts.guard.check(guardedCall(scope, call, tool, validation.value));
  if (decision.decision === "deny")
    return { kind: "answered", result: textResult(call, decision.reason, "denied") };
  if (decision.decision === "ask" && !approved)
    return { kind: "ask", pending: askingCall(call, decision) };
  return { kind: "run", tool, input: validation.value };
}

/** Says what is wrong with the input of a call, in words the model can act on. */
function invalidInput({ name, input }: ToolCallBlock, problem: string): string {
  // Adapters pass on as text what does not parse.
  const broken = typeof input === "string" ? jsonProblem(input) : null;
  if (typeof input !== "string") return `Invalid input for ${name}: ${problem}`;
  if (broken === null) {
    const advice = /^\s*\{/.test(input)
      ? "; the arguments are a text that holds JSON; pass the object itself"
      : "";
    return `Invalid input for ${name}: ${problem}${advice}`;
  }
  return `Invalid input for ${name}: the arguments are not valid JSON. At character ${broken.offset + 1} ${broken.problem}: ${excerptAt(input, broken.offset)}`;
}

/** The part of a call that its guards are consulted with. */
export type GuardedScope = Pick<CallScope, "parts" | "slot" | "ctx"> & {
  readonly session: Pick<CallScope["session"], "state">;
};

/** Asks the guards about a call that was judged before, for the reason and the suggestions, which the state does not keep. */
export async function askAgain(
  scope: GuardedScope,
  call: ToolCallBlock,
  tool: Tool,
): Promise<ToolDecision> {
  const checked = await validateInput(tool.input, call.input);
  const value = checked.problem === undefined ? checked.value : call.input;
  return scope.parts.guard.check(guardedCall(scope, call, tool, value));
}

/** Returns a tool call as guards see it. */
function guardedCall(
  { parts, slot, session, ctx }: GuardedScope,
  call: ToolCallBlock,
  tool: Tool,
  input: unknown,
): GuardedCall {
  const rules = new RememberedRules(parts, slot, session.state);
  return { call, tool, input, slot, ctx, remembered: () => rules.all() };
}

/** Returns a call that asks, as replies and events list it. */
export function askingCall(
  { id: toolCallId, name, input }: ToolCallBlock,
  decision: ToolDecision | undefined,
): PendingCall {
  return {
    ...{ toolCallId, name, input, state: "asking" },
    ...(decision?.decision === "ask" && {
      reason: decision.reason,
      ...(decision.suggestions && { suggestions: decision.suggestions }),
    }),
  };
}
