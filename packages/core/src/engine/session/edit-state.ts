import { InvalidInputError } from "../../errors/errors.js";
import { HoldfastError } from "../../errors/holdfast-error.js";
import { isRecord } from "../../json/json.js";
import { adoptMessage } from "../../message/create-message.js";
import type { Message } from "../../message/message.js";
import type { AgentState } from "../../state/agent-state.js";
import { STATE_FORMAT } from "../../state/migrate-document.js";
import { type CallScope, stepOf } from "../call-scope.js";
import { receive } from "../receive.js";
import { badState, checkState } from "../save/check-state.js";

/** Edits a state in place; when it returns an `AgentState`, that one is stored instead. */
export type StateEdit = (state: AgentState) => unknown;

/** Party to blame for a bad value in an edited state. */
export const theEdit = "the edit of updateAgentState";

/** Lets `edit` change the state of an open session, or return another one. @throws InvalidInputError */
export async function editState(scope: CallScope, edit: StateEdit): Promise<void> {
  const { session, parts } = scope;
  const before = new Set(session.state.messages.map(({ id }) => id));
  const returned = await edit(session.state);
  await receivePushed(scope, before);
  await replaceState(scope, returned);
  checkState(parts, session, theEdit);
}

/** Puts the state that an edit returned in the place of the session's; any other value it returned means nothing. */
async function replaceState(scope: CallScope, returned: unknown): Promise<void> {
  const { session, slot } = scope;
  const { state } = session;
  if (!isState(returned)) {
    if (isRecord(returned) && returned["format"] === STATE_FORMAT)
      throw new InvalidInputError(
        "the edit of updateAgentState returned a document; return a state: AgentState.fromJson(document)",
      );
    return;
  }
  if (returned.sessionId !== slot.sessionId || returned.userId !== slot.userId)
    throw new InvalidInputError(
      "the state returned belongs to another session; its userId and sessionId must be those of the one updated",
    );
  // By id: it may have been through JSON.
  const known = new Set(state.messages.map(({ id }) => id));
  let checked: readonly Message[];
  try {
    checked = Array.from(returned.context, adoptMessage);
    state.restoreHead(returned.head());
  } catch (error) {
    if (!HoldfastError.is(error)) throw error;
    throw badState(session, theEdit, error.message, error);
  }
  const context = await receiveAdded(scope, checked, known);
  session.log.add(context.filter(({ id }) => !known.has(id)));
  state.contextMutable().replaceAll(context);
}

/** By form: the state may come from another copy of this package. */
function isState(value: unknown): value is AgentState {
  return (
    isRecord(value) &&
    typeof value["contextMutable"] === "function" &&
    typeof value["head"] === "function" &&
    Array.isArray(value["context"])
  );
}

/**
 * Runs messages that an edit added through the `onIncoming` hooks.
 *
 * @param messages - context after the edit
 * @param known - ids of the messages that were there before
 * @returns the context with what the hooks made of the added ones
 */
async function receiveAdded(
  scope: CallScope,
  messages: readonly Message[],
  known: ReadonlySet<string>,
): Promise<readonly Message[]> {
  const { parts, slot, ctx, callId } = scope;
  if (parts.hooks.onIncoming.length === 0) return messages;
  const { signal, emit } = stepOf(scope);
  const step = { slot, ctx, callId, signal, emit, origin: "update" } as const;
  const received: Message[] = [];
  for (const message of messages)
    received.push(known.has(message.id) ? message : await receive(parts, message, step));
  return received;
}

/** Runs what was pushed to the session's context through the `onIncoming` hooks, before the log has it. */
async function receivePushed(scope: CallScope, known: ReadonlySet<string>): Promise<void> {
  const { state, log, said } = scope.session;
  if (scope.parts.hooks.onIncoming.length === 0) return;
  const pushed = new Set(state.takePushed().map(({ id }) => id));
  const context = await receiveAdded(scope, state.context, known);
  state.contextMutable().replaceAll(context);
  for (const message of context.filter(({ id }) => pushed.has(id))) {
    said.set(message.id, message);
    log.add([message]);
  }
}
