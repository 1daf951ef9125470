import type { Message } from "../../message/message.js";
import { type CallScope, stepOf } from "../call-scope.js";
import { receive } from "../receive.js";

/**
 * Runs messages that an edit added through the `onIncoming` hooks.
 *
 * @param messages - context after the edit
 * @param known - ids of the messages that were there before
 * @returns the context with what the hooks made of the added ones
 */
export async function receiveAdded(
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
export async function receivePushed(scope: CallScope, known: ReadonlySet<string>): Promise<void> {
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
