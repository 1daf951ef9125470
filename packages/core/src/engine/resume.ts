import { InvalidInputError, PendingConfirmationError } from "../errors/errors.js";
import { toJsonValue } from "../json/json.js";
import { createMessage } from "../message/create-message.js";
import type { ToolCallBlock, ToolResultBlock } from "../message/message.js";
import { describeSlot } from "../slot/slot.js";
import type { Confirmation, ExternalResult, ReadInput } from "./call-input.js";
import type { CallScope } from "./call-scope.js";
import { openCallsOf, textResult } from "./close-calls.js";
import { consult } from "./judge-call.js";
import { toOutput } from "./run-tool.js";

/** Which calls of an earlier message run before the model is asked again. */
export interface Resumption {
  readonly calls: readonly ToolCallBlock[];
  /** Approved by a person: they ask no more. */
  readonly approved: ReadonlySet<string>;
  /** Whether this call goes on from where another one paused. */
  readonly resumed: boolean;
}

/**
 * Takes in what the input says about open tool calls.
 *
 * @throws PendingConfirmationError for plain input while a call waits for somebody
 * @throws InvalidInputError for answers about calls that do not wait for them
 */
export async function resume(scope: CallScope, input: ReadInput): Promise<Resumption> {
  const { state } = scope.session;
  if (input.kind === "confirm") await takeConfirmations(scope, input.confirm);
  if (input.kind === "results") takeResults(scope, input.results);
  const open = openCallsOf(state);
  const interrupted = state.shutdownInterrupted;
  state.shutdownInterrupted = false;
  if (input.kind === "messages" && open.length > 0 && !interrupted)
    throw new PendingConfirmationError(
      `${describeSlot(scope.slot)} waits for an answer about ${open.length} tool call(s). Go on with { confirm: [{ callId, approve }] } for those that ask, { results: [{ callId, output }] } for suspended ones, or interrupt the session`,
      open.map(({ call }) => call.id),
    );
  const waiting = open.some((one) => one.state === "asking");
  const run = waiting
    ? []
    : open.filter((one) => one.state === "allowed" || (interrupted && one.state === "pending"));
  return {
    calls: run.map(({ call }) => call),
    approved: new Set(run.filter((one) => one.state === "allowed").map(({ call }) => call.id)),
    resumed: input.kind !== "messages" || interrupted,
  };
}

async function takeConfirmations(
  scope: CallScope,
  confirmations: readonly Confirmation[],
): Promise<void> {
  const { session } = scope;
  const calls = waitingCalls(scope, confirmations, "asking");
  const denied: ToolResultBlock[] = [];
  for (const confirmation of confirmations) {
    let call = calls.get(confirmation.callId) as ToolCallBlock;
    if (!confirmation.approve) {
      denied.push(
        textResult(
          call,
          `The user denied this call.${confirmation.reason ? ` ${confirmation.reason}` : ""}`,
          "denied",
        ),
      );
      delete session.state.openCalls[call.id];
      continue;
    }
    if (confirmation.input !== undefined) call = editInput(scope, call, confirmation);
    await rememberRules(scope, call, confirmation);
    session.state.openCalls[call.id] = "allowed";
  }
  if (denied.length > 0) session.say(createMessage("tool", denied));
  session.log.mark({
    name: "confirm",
    details: {
      approved: confirmations.filter(({ approve }) => approve).map(({ callId }) => callId),
      denied: denied.map(({ callId }) => callId),
    },
  });
}

function takeResults(scope: CallScope, results: readonly ExternalResult[]): void {
  const { session } = scope;
  const calls = waitingCalls(scope, results, "pending");
  const blocks = results.map((result): ToolResultBlock => {
    const call = calls.get(result.callId) as ToolCallBlock;
    return {
      type: "tool_result",
      callId: call.id,
      name: call.name,
      output: toOutput(result.output, call.name),
      state: result.state ?? "success",
    };
  });
  session.say(createMessage("tool", blocks));
  for (const { callId } of results) delete session.state.openCalls[callId];
}

/** The calls that are answered, by id. */
function waitingCalls(
  scope: CallScope,
  answers: readonly { readonly callId: string }[],
  wanted: "asking" | "pending",
): Map<string, ToolCallBlock> {
  const calls = new Map<string, ToolCallBlock>();
  for (const { call, state } of openCallsOf(scope.session.state))
    if (state === wanted) calls.set(call.id, call);
  for (const { callId } of answers)
    if (!calls.has(callId))
      throw new InvalidInputError(
        `tool call ${JSON.stringify(callId)} of ${describeSlot(scope.slot)} does not wait for ${wanted === "asking" ? "a confirmation" : "a result"}; waiting: ${[...calls.keys()].join(", ") || "none"}`,
      );
  return calls;
}

/** Replaces the call's message by one with the person's input in place of the model's. */
function editInput(scope: CallScope, call: ToolCallBlock, { input }: Confirmation): ToolCallBlock {
  const { state } = scope.session;
  const edited = { ...call, input: toJsonValue(input, `input of call ${call.id}`) };
  const index = state.context.findLastIndex(({ content }) => content.some((b) => b === call));
  const message = state.context[index];
  if (!message) return call;
  const { id, createdAt, usage, metadata, content } = message;
  const replaced = createMessage(
    "assistant",
    content.map((block) => (block === call ? edited : block)),
    {
      id,
      createdAt,
      usage,
      metadata: { ...metadata, editedCalls: editedCalls(metadata, call.id) },
    },
  );
  state.contextMutable().replace(index, replaced);
  return replaced.content.find((b) => b.type === "tool_call" && b.id === call.id) as ToolCallBlock;
}

function editedCalls(
  metadata: { readonly [key: string]: unknown } | undefined,
  id: string,
): string[] {
  const before = metadata?.["editedCalls"];
  return [...(Array.isArray(before) ? before.map(String) : []), id];
}

async function rememberRules(
  scope: CallScope,
  call: ToolCallBlock,
  { remember }: Confirmation,
): Promise<void> {
  const tool = scope.parts.tools.get(call.name);
  if (!tool || remember === undefined || remember === false) return;
  const guarded = { call, tool, ctx: scope.ctx };
  const decision = remember === true ? await consult(scope, guarded) : undefined;
  const rules =
    remember === true
      ? decision?.decision === "ask"
        ? (decision.suggestions ?? [])
        : []
      : remember;
  for (const guard of scope.parts.guards) await guard.remember?.(guarded, rules);
}
