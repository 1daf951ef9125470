import { InvalidInputError } from "../../errors/errors.js";
import type { PendingCall } from "../../events/agent-reply.js";
import type { JsonValue } from "../../json/json.js";
import { adoptMessage } from "../../message/create-message.js";
import type { Block, Message, ToolCallBlock, ToolResultBlock } from "../../message/message.js";
import { describeSlot } from "../../slot/slot.js";
import type { PermissionRule } from "../../state/sections.js";
import type { Confirmation, ExternalResult } from "../call-input.js";
import { type CallScope, stepOf } from "../call-scope.js";
import { checkSizes } from "../check-messages.js";
import type { RunName } from "../save/log-batch.js";
import { RememberedRules } from "../session/remembered-rules.js";
import type { Answers } from "./acting.js";
import { askAgain } from "./judge-call.js";
import { openCallsOf } from "./open-calls.js";
import { refineResult } from "./run-tool.js";
import { addResults, emitResult, textResult, toOutput } from "./tool-results.js";

/** Calls of the agents that suspended tool calls run, which ask a person, by tool call. */
export type OpenAsks = ReadonlyMap<string, readonly PendingCall[]>;

/**
 * Applies a person's answers to the session's own calls.
 *
 * @returns the answers for the agents that calls run
 */
export async function takeConfirmations(
  scope: CallScope,
  run: RunName,
  confirmations: readonly Confirmation[],
  asks: OpenAsks,
): Promise<Answers["delegated"]> {
  const { session } = scope;
  const asked = new Map(
    [...asks].flatMap(([id, pending]) => pending.map((call) => [call.toolCallId, { id, call }])),
  );
  const own = confirmations.filter(({ toolCallId }) => !asked.has(toolCallId));
  const calls = answeredCalls(scope, own, "asking", [...asked.keys()]);
  const denied: ToolResultBlock[] = [];
  const edited: Record<string, JsonValue> = {};
  const chosen: ChosenRules[] = [];
  const delegated = new Map<string, Confirmation[]>();
  for (const confirmation of confirmations) {
    const other = asked.get(confirmation.toolCallId);
    if (other) {
      const { remember, ...answer } = confirmation;
      chosen.push(
        ...(await rulesOf(scope, confirmation, async () => other.call.suggestions ?? [])),
      );
      delegated.set(other.id, [...(delegated.get(other.id) ?? []), answer]);
      continue;
    }
    let call = calls.get(confirmation.toolCallId) as ToolCallBlock;
    if (!confirmation.approve) {
      denied.push(
        textResult(
          call,
          `The user denied this call.${confirmation.reason ? ` ${confirmation.reason}` : ""}`,
          "denied",
        ),
      );
      continue;
    }
    if (confirmation.input !== undefined) {
      call = editInput(scope, call, confirmation);
      edited[call.id] = call.input;
    }
    const suggested = call;
    if (scope.parts.tools.get(call.name))
      chosen.push(...(await rulesOf(scope, confirmation, () => suggestedRules(scope, suggested))));
    session.state.openCalls[call.id] = "allowed";
  }
  for (const id of delegated.keys()) session.state.openCalls[id] = "allowed";
  // Once nothing can be refused any more: the rules of a user are not part of this session.
  const remembered = new RememberedRules(scope.parts, scope.slot, session.state);
  for (const { scope: ruleScope, rules } of chosen) await remembered.add(rules, ruleScope);
  session.sayAnswer(run, (id) => addResults(scope, denied, denied, id));
  for (const result of denied) emitResult(scope, result);
  const answered = (approve: boolean) =>
    confirmations.filter((one) => one.approve === approve).map(({ toolCallId }) => toolCallId);
  session.mark({
    name: "confirm",
    details: { approved: answered(true), denied: answered(false), edited },
  });
  return new Map([...delegated].map(([id, confirm]) => [id, { confirm }]));
}

/** Takes in results from outside. */
export async function takeResults(
  scope: CallScope,
  run: RunName,
  results: readonly ExternalResult[],
): Promise<void> {
  const calls = answeredCalls(scope, results, "pending");
  const originals = results.map((result): ToolResultBlock => {
    const call = calls.get(result.toolCallId) as ToolCallBlock;
    return {
      type: "tool_result",
      toolCallId: call.id,
      name: call.name,
      output: toOutput(result.output, call.name),
      state: result.state ?? "success",
    };
  });
  const taken = await Promise.all(
    originals.map((original) =>
      refined(scope, calls.get(original.toolCallId) as ToolCallBlock, original),
    ),
  );
  scope.session.sayAnswer(run, (id) => addResults(scope, taken, originals, id));
  for (const result of taken) emitResult(scope, result);
}

/** A result from outside meets the same `onToolResult` hooks as one from inside. */
async function refined(
  scope: CallScope,
  call: ToolCallBlock,
  original: ToolResultBlock,
): Promise<ToolResultBlock> {
  const tool = scope.parts.tools.get(call.name);
  if (!tool) return original;
  return refineResult(scope, Object.assign(stepOf(scope), { call, tool }), original);
}

/** The calls that are answered, by id. */
function answeredCalls(
  scope: CallScope,
  answers: readonly { readonly toolCallId: string }[],
  wanted: "asking" | "pending",
  others: readonly string[] = [],
): Map<string, ToolCallBlock> {
  const calls = new Map<string, ToolCallBlock>();
  for (const { call, state } of openCallsOf(scope.session.state))
    if (state === wanted) calls.set(call.id, call);
  for (const { toolCallId } of answers)
    if (!calls.has(toolCallId))
      throw new InvalidInputError(
        `tool call ${JSON.stringify(toolCallId)} of ${describeSlot(scope.slot)} does not wait for ${wanted === "asking" ? "a confirmation" : "a result"}; waiting: ${[...calls.keys(), ...others].join(", ") || "none"}`,
      );
  return calls;
}

/** Replaces the call's message by one with the person's input in place of the model's. */
function editInput(scope: CallScope, call: ToolCallBlock, { input }: Confirmation): ToolCallBlock {
  const { state, replaced } = scope.session;
  const edited: ToolCallBlock = { ...call, input: input as JsonValue };
  // By id: another edit of the same message may have replaced its blocks already.
  const isEdited = (block: Block) => block.type === "tool_call" && block.id === call.id;
  const index = state.messages.findLastIndex(({ content }) => content.some(isEdited));
  const message = state.messages[index] as Message;
  const changed = adoptMessage({
    ...message,
    content: message.content.map((block) => (isEdited(block) ? edited : block)),
    metadata: { ...message.metadata, editedCalls: editedCalls(message.metadata, call.id) },
  });
  checkSizes([changed], scope.parts.settings.limits.messageBytes);
  if (!replaced.has(message.id)) replaced.set(message.id, message);
  state.contextMutable().replace(index, changed);
  return edited;
}

function editedCalls(
  metadata: { readonly [key: string]: unknown } | undefined,
  id: string,
): string[] {
  const before = metadata?.["editedCalls"];
  return [...(Array.isArray(before) ? before.map(String) : []), id];
}

/** Rules to remember, and for whom. */
type ChosenRules = Extract<Confirmation["remember"], object>;

/**
 * Returns the rules that a person wants remembered: those they name, or those that the guard suggests for the call as it
 * will run.
 *
 * @throws InvalidInputError for a rule that no guard would understand, and when there is nothing to remember
 */
async function rulesOf(
  { parts, slot }: CallScope,
  { toolCallId, approve, remember }: Confirmation,
  suggested: () => Promise<readonly PermissionRule[]>,
): Promise<readonly ChosenRules[]> {
  if (!approve || remember === undefined) return [];
  const chosen =
    typeof remember === "string" ? { scope: remember, rules: await suggested() } : remember;
  const refuse = (problem: string): never => {
    throw new InvalidInputError(
      `remember, about tool call ${JSON.stringify(toolCallId)}: ${problem}`,
    );
  };
  if (chosen.rules.length === 0)
    refuse("the guard suggests no rule for this call; approve it alone, or name { scope, rules }");
  if (chosen.scope === "user" && slot.userId === null)
    refuse(`${describeSlot(slot)} has no userId; a rule can be remembered for the session only`);
  for (const rule of chosen.rules) {
    const problem = parts.guard.ruleProblem?.(rule) ?? null;
    if (problem !== null) refuse(problem);
  }
  return [chosen];
}

async function suggestedRules(
  scope: CallScope,
  call: ToolCallBlock,
): Promise<readonly PermissionRule[]> {
  const tool = scope.parts.tools.get(call.name);
  if (!tool) return [];
  const decision = await scope.stop.race(askAgain(scope, call, tool));
  return decision.decision === "ask" ? (decision.suggestions ?? []) : [];
}
