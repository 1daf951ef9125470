import { InvalidInputError, PendingConfirmationError } from "../../errors/errors.js";
import type { JsonValue } from "../../json/json.js";
import { adoptMessage } from "../../message/create-message.js";
import type { Block, Message, ToolCallBlock, ToolResultBlock } from "../../message/message.js";
import { describeSlot } from "../../slot/slot.js";
import type { OpenCallState, PermissionRule } from "../../state/sections.js";
import { validateInput } from "../../tool/input-schema.js";
import type { Tool } from "../../tool/tool.js";
import type { Confirmation, ExternalResult, ReadInput } from "../call-input.js";
import { type CallScope, stepOf } from "../call-scope.js";
import type { RunName } from "../save/log-batch.js";
import { RememberedRules } from "../session/remembered-rules.js";
import { refineResult } from "./acting.js";
import { closeCalls, openCallsOf } from "./close-calls.js";
import { guardedCall } from "./judge-call.js";
import { toOutput } from "./run-tool.js";
import { addResults, emitResult, textResult } from "./tool-results.js";

/** Calls of an earlier message that run before the model is asked again. */
export interface Resumption {
  readonly calls: readonly ToolCallBlock[];
  /** Approved by a person: they ask no more. */
  readonly approved: ReadonlySet<string>;
  /** True when this call goes on from where another one paused. */
  readonly resumed: boolean;
  /** True when a denial ends the turn: nothing runs, and the model is not asked. */
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
  if (input.kind === "confirm") await takeConfirmations(scope, answering, input.confirm);
  if (input.kind === "results") await takeResults(scope, answering, input.results);
  if (input.kind === "messages" && input.messages.length > 0) denyPending(scope);
  const open = openCallsOf(state);
  const interrupted = state.shutdownInterrupted || goesOn;
  state.shutdownInterrupted = false;
  const waiting = open.some((one) => one.state === "asking");
  if (input.kind === "messages" && open.length > 0 && (waiting || !interrupted))
    throw pendingError(scope, open);
  const ends = input.kind === "confirm" && input.confirm.some(({ interrupt }) => interrupt);
  if (ends) closeCalls(scope.session, { text: "Not run: the user denied a call and stopped." });
  const run = ends
    ? []
    : open.filter((one) => one.state === "allowed" || (interrupted && one.state === "pending"));
  return {
    calls: run.map(({ call }) => call),
    approved: new Set(run.filter((one) => one.state === "allowed").map(({ call }) => call.id)),
    resumed: input.kind !== "messages" || interrupted,
    ends,
  };
}

/** Answers what waits with a denial, where the caller of a new message wants that. */
function denyPending({ ctx, session }: CallScope): void {
  if (ctx.onPending !== "deny" || session.goesOn || session.state.shutdownInterrupted) return;
  closeCalls(session, {
    text: "Not run: the user answered with a new message instead.",
    resultState: "denied",
  });
}

/** Names the calls that can be answered; those that were allowed only wait for the others. */
function pendingError(
  { slot }: CallScope,
  open: ReturnType<typeof openCallsOf>,
): PendingConfirmationError {
  const named = (wanted: OpenCallState) =>
    open
      .filter(({ state }) => state === wanted)
      .map(({ call: { name, id } }) => `${name} (${id})`)
      .join(", ");
  const asking = named("asking");
  const suspended = named("pending");
  const waits = [
    ...(asking === "" ? [] : [`an approval of ${asking}: { confirm: [{ toolCallId, approve }] }`]),
    ...(suspended === ""
      ? []
      : [`the result of ${suspended}: { results: [{ toolCallId, output }] }`]),
  ];
  return new PendingConfirmationError(
    `${describeSlot(slot)} takes no new message: it waits for ${waits.join(", and for ") || "tool calls that were allowed and have not run"}. Answer with agent.call, or give up on what waits with agent.interrupt`,
    open.flatMap(({ call, state }) => (state === "asking" || state === "pending" ? [call.id] : [])),
  );
}

async function takeConfirmations(
  scope: CallScope,
  run: RunName,
  confirmations: readonly Confirmation[],
): Promise<void> {
  const { session } = scope;
  const calls = answeredCalls(scope, confirmations, "asking");
  const denied: ToolResultBlock[] = [];
  const edited: Record<string, JsonValue> = {};
  const chosen: ChosenRules[] = [];
  for (const confirmation of confirmations) {
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
    chosen.push(...(await chosenRules(scope, call, confirmation.remember)));
    session.state.openCalls[call.id] = "allowed";
  }
  // Once nothing can be refused any more: the rules of a user are not part of this session.
  const remembered = new RememberedRules(scope.parts, scope.slot, session.state);
  for (const { scope: ruleScope, rules } of chosen) await remembered.add(rules, ruleScope);
  session.sayAnswer(run, () => addResults(scope, denied));
  for (const result of denied) emitResult(scope, result);
  session.mark({
    name: "confirm",
    details: {
      approved: confirmations.filter(({ approve }) => approve).map(({ toolCallId }) => toolCallId),
      denied: denied.map(({ toolCallId }) => toolCallId),
      edited,
    },
  });
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
): Map<string, ToolCallBlock> {
  const calls = new Map<string, ToolCallBlock>();
  for (const { call, state } of openCallsOf(scope.session.state))
    if (state === wanted) calls.set(call.id, call);
  for (const { toolCallId } of answers)
    if (!calls.has(toolCallId))
      throw new InvalidInputError(
        `tool call ${JSON.stringify(toolCallId)} of ${describeSlot(scope.slot)} does not wait for ${wanted === "asking" ? "a confirmation" : "a result"}; waiting: ${[...calls.keys()].join(", ") || "none"}`,
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
async function chosenRules(
  scope: CallScope,
  call: ToolCallBlock,
  remember: Confirmation["remember"],
): Promise<readonly ChosenRules[]> {
  const { parts, slot } = scope;
  const tool = parts.tools.get(call.name);
  if (!tool || remember === undefined) return [];
  const chosen =
    typeof remember === "string"
      ? { scope: remember, rules: await suggestedRules(scope, call, tool) }
      : remember;
  const refuse = (problem: string): never => {
    throw new InvalidInputError(`remember, about tool call ${JSON.stringify(call.id)}: ${problem}`);
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
  tool: Tool,
): Promise<readonly PermissionRule[]> {
  const checked = await validateInput(tool.input, call.input);
  const value = checked.problem === undefined ? checked.value : call.input;
  const decision = await scope.parts.guard.check(guardedCall(scope, call, tool, value));
  return decision.decision === "ask" ? (decision.suggestions ?? []) : [];
}
