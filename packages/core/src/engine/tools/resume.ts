import { InvalidInputError, PendingConfirmationError } from "../../errors/errors.js";
import type { PendingCall } from "../../events/agent-reply.js";
import type { JsonValue } from "../../json/json.js";
import { adoptMessage } from "../../message/create-message.js";
import type { Block, Message, ToolCallBlock, ToolResultBlock } from "../../message/message.js";
import { describeSlot } from "../../slot/slot.js";
import type { PermissionRule } from "../../state/sections.js";
import { validateInput } from "../../tool/input-schema.js";
import type { Confirmation, ExternalResult, ReadInput } from "../call-input.js";
import { type CallScope, stepOf } from "../call-scope.js";
import type { RunName } from "../save/log-batch.js";
import { RememberedRules } from "../session/remembered-rules.js";
import { type Answers, refineResult } from "./acting.js";
import { endToolCalls, openCallsOf } from "./close-calls.js";
import { guardedCall } from "./judge-call.js";
import { toOutput } from "./run-tool.js";
import { addResults, emitResult, textResult } from "./tool-results.js";
import { delegatedAsks } from "./waiting-calls.js";

/** Text of calls that do not run because a person denied another one and stopped. */
export const ENDED_BY_DENIAL = "Not run: the user denied a call and stopped.";

/** Calls of an earlier message that run before the model is asked again. */
export interface Resumption extends Answers {
  readonly calls: readonly ToolCallBlock[];
  /** True when this call goes on from where another one paused. */
  readonly resumed: boolean;
  /** True when a denial ends the turn: only agents that were answered are told, and the model is not asked. */
  readonly ends: boolean;
}

/** Settings of {@link resume}. */
export interface ResumptionOptions {
  /** Open calls run although the input says nothing about them: an earlier call was to answer them and died. */
  readonly goesOn: boolean;
  /** Run whose input it is. @default the present one */
  readonly run?: RunName | undefined;
}

/**
 * Takes in what the input says about open tool calls.
 *
 * @throws PendingConfirmationError for plain input while a tool call waits for an answer
 * @throws InvalidInputError for answers about calls that do not wait for them
 */
export async function resume(
  scope: CallScope,
  input: ReadInput,
  { goesOn, run: answering = scope.run }: ResumptionOptions,
): Promise<Resumption> {
  const { state } = scope.session;
  const asks = await openAsks(scope);
  const delegated =
    input.kind === "confirm"
      ? await takeConfirmations(scope, answering, input.confirm, asks)
      : noAnswers;
  if (input.kind === "results") await takeResults(scope, answering, input.results);
  if (input.kind === "messages" && input.messages.length > 0) denyPending(scope);
  const open = openCallsOf(state);
  const interrupted = state.shutdownInterrupted || goesOn;
  state.shutdownInterrupted = false;
  // The agent that they run was answered elsewhere, and waits no more.
  const answered = (id: string) => asks.get(id)?.length === 0;
  const waiting = open.filter(({ call, state }) => state !== "pending" || !answered(call.id));
  const isAsking = waiting.some(({ call, state }) => state === "asking" || asks.has(call.id));
  if (input.kind === "messages" && waiting.length > 0 && (isAsking || !interrupted))
    throw pendingError(scope, waiting, asks);
  const ends = input.kind === "confirm" && input.confirm.some(({ interrupt }) => interrupt);
  if (ends)
    endToolCalls(scope, {
      which: (_, { id }) => !delegated.has(id),
      text: ENDED_BY_DENIAL,
    });
  const run = open.filter(({ call, state }) =>
    ends
      ? delegated.has(call.id)
      : state === "allowed" || (state === "pending" && (interrupted || answered(call.id))),
  );
  return {
    calls: run.map(({ call }) => call),
    approved: new Set(run.filter((one) => one.state === "allowed").map(({ call }) => call.id)),
    delegated,
    resumed: input.kind !== "messages" || interrupted || run.length > 0,
    ends,
  };
}

/** Answers for the agents that tool calls run, by tool call. */
type DelegatedAnswers = ReadonlyMap<string, readonly Confirmation[]>;

const noAnswers: DelegatedAnswers = new Map();

/** Returns what the agents that suspended calls run ask a person, by tool call. */
async function openAsks(scope: CallScope): Promise<ReadonlyMap<string, readonly PendingCall[]>> {
  const asks = new Map<string, readonly PendingCall[]>();
  for (const { call, state } of openCallsOf(scope.session.state)) {
    const tool = scope.parts.tools.get(call.name);
    if (state === "pending" && tool?.delegation)
      asks.set(call.id, await delegatedAsks(scope, call, tool));
  }
  return asks;
}

/** Answers what waits with a denial, where the caller of a new message wants that. */
function denyPending(scope: CallScope): void {
  const { ctx, session } = scope;
  if (ctx.onPending !== "deny" || session.goesOn || session.state.shutdownInterrupted) return;
  endToolCalls(scope, {
    text: "Not run: the user answered with a new message instead.",
    resultState: "denied",
  });
}

/** Names the calls that can be answered; those that were allowed only wait for the others. */
function pendingError(
  { slot }: CallScope,
  open: ReturnType<typeof openCallsOf>,
  asks: ReadonlyMap<string, readonly PendingCall[]>,
): PendingConfirmationError {
  const own = (wanted: "asking" | "pending") =>
    open
      .filter(({ call, state }) => state === wanted && !asks.has(call.id))
      .map(({ call: { name, id } }) => ({ name, toolCallId: id }));
  const asking = [...own("asking"), ...[...asks.values()].flat()];
  const suspended = own("pending");
  const named = (calls: readonly { readonly name: string; readonly toolCallId: string }[]) =>
    calls.map(({ name, toolCallId }) => `${name} (${toolCallId})`).join(", ");
  const waits = [
    ...(asking.length === 0
      ? []
      : [`an approval of ${named(asking)}: { confirm: [{ toolCallId, approve }] }`]),
    ...(suspended.length === 0
      ? []
      : [`the result of ${named(suspended)}: { results: [{ toolCallId, output }] }`]),
  ];
  return new PendingConfirmationError(
    `${describeSlot(slot)} takes no new message: it waits for ${waits.join(", and for ") || "tool calls that were allowed and have not run"}. Answer with agent.call, or give up on what waits with agent.interrupt`,
    [...asking, ...suspended].map(({ toolCallId }) => toolCallId),
  );
}

/**
 * Applies a person's answers to the session's own calls.
 *
 * @returns the answers for the agents that calls run
 */
async function takeConfirmations(
  scope: CallScope,
  run: RunName,
  confirmations: readonly Confirmation[],
  asks: ReadonlyMap<string, readonly PendingCall[]>,
): Promise<DelegatedAnswers> {
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
  session.sayAnswer(run, () => addResults(scope, denied));
  for (const result of denied) emitResult(scope, result);
  const answered = (approve: boolean) =>
    confirmations.filter((one) => one.approve === approve).map(({ toolCallId }) => toolCallId);
  session.mark({
    name: "confirm",
    details: { approved: answered(true), denied: answered(false), edited },
  });
  return delegated;
}

async function takeResults(
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
  scope.session.sayAnswer(run, () => addResults(scope, taken, originals));
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
  const { state } = scope.session;
  const edited: ToolCallBlock = { ...call, input: input as JsonValue };
  // By id: another edit of the same message may have replaced its blocks already.
  const isEdited = (block: Block) => block.type === "tool_call" && block.id === call.id;
  const index = state.messages.findLastIndex(({ content }) => content.some(isEdited));
  const message = state.messages[index] as Message;
  state.contextMutable().replace(
    index,
    adoptMessage({
      ...message,
      content: message.content.map((block) => (isEdited(block) ? edited : block)),
      metadata: { ...message.metadata, editedCalls: editedCalls(message.metadata, call.id) },
    }),
  );
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
  const checked = await validateInput(tool.input, call.input);
  const value = checked.problem === undefined ? checked.value : call.input;
  const decision = await scope.parts.guard.check(guardedCall(scope, call, tool, value));
  return decision.decision === "ask" ? (decision.suggestions ?? []) : [];
}
