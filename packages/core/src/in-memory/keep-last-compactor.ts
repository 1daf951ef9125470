import { InvalidInputError } from "../errors/errors.js";
import type { Message } from "../message/message.js";
import { toolCallsOf, toolResultsOf } from "../message/read-message.js";
import { parseOptions } from "../plugin-kit/parse-options.js";
import * as s from "../plugin-kit/schema/index.js";
import { checkOptions } from "../plugin-kit/unknown-names.js";
import type { CompactionRequest, Compactor } from "../ports/compactor.js";
import type { AgentState } from "../state/agent-state.js";

/** Options of {@link keepLastCompactor}. */
export interface KeepLastOptions {
  /** Number of newest messages that stay; more when a call would be separated from its result. */
  readonly keepMessages: number;
}

const optionsSchema: s.Schema<KeepLastOptions> = s.strictObject({
  keepMessages: s.int().min(1),
});

/**
 * Shortens a context by dropping its oldest messages, without a model: the reference {@link Compactor}.
 *
 * - It keeps the summary, if there is one, the request that is being worked on, and the last `keepMessages` messages with the
 *   calls of all results among them.
 * - The caller of a compaction may override `keepMessages`.
 * - `force` has no effect: there is no trigger.
 *
 * @throws ConfigurationError when an option is wrong
 * @example
 * const compactor = keepLastCompactor({ keepMessages: 20 });
 */
export function keepLastCompactor(options: KeepLastOptions): Compactor {
  const { keepMessages } = parseOptions(optionsSchema, options, "keepLastCompactor");
  return {
    async compact(request) {
      const { state, signal } = request;
      signal.throwIfAborted();
      const messagesBefore = state.context.length;
      const tail = tailStart(state, keepOf(request, keepMessages));
      const requests = currentRequests(state.context);
      const stays = (index: number): boolean =>
        index >= tail || requests.has(index) || (index === 0 && state.summary !== null);
      const dropped = state.context.filter((_, index) => !stays(index));
      if (dropped.length === 0)
        return { compacted: false, messagesBefore, messagesAfter: messagesBefore };
      const kept = state.context.filter((_, index) => stays(index));
      await request.dropping(dropped);
      signal.throwIfAborted();
      state.contextMutable().replaceAll(kept);
      return { compacted: true, messagesBefore, messagesAfter: kept.length };
    },
  };
}

function keepOf({ overrides }: CompactionRequest, otherwise: number): number {
  const { keepMessages: keep } = checkOptions<{ readonly keepMessages?: unknown }>(
    overrides,
    ["keepMessages"],
    "compact",
  );
  if (keep === undefined) return otherwise;
  if (typeof keep === "number" && Number.isInteger(keep) && keep >= 1) return keep;
  throw new InvalidInputError("keepMessages must be a whole number of at least 1");
}

/** Returns the index of the first message of the tail that stays. */
function tailStart(state: AgentState, keep: number): number {
  const messages = state.context;
  const callers = new Map<string, number>();
  for (const [index, message] of messages.entries())
    for (const call of toolCallsOf(message)) callers.set(call.id, index);
  let cut = Math.max(messages.length - keep, 0);
  for (const toolCallId of Object.keys(state.openCalls))
    cut = Math.min(cut, callers.get(toolCallId) ?? cut);
  // Walks back to a cut that may move back itself: a result pulls in its call and everything between.
  for (let index = messages.length - 1; index >= cut; index--)
    for (const result of toolResultsOf(messages[index] as Message))
      cut = Math.min(cut, callers.get(result.toolCallId) ?? cut);
  return cut;
}

/** Most messages that a request that is being worked on may have. */
const MAX_REQUESTS = 8;

/** Returns the indices of the user's last words; words behind tool results were said to a turn that had begun before. */
function currentRequests(messages: readonly Message[]): ReadonlySet<number> {
  const found = new Set<number>();
  let index = messages.findLastIndex(isRequest);
  while (index >= 0 && found.size < MAX_REQUESTS) {
    found.add(index);
    const before = messages[index - 1];
    if (!before || !(isRequest(before) || toolResultsOf(before).length > 0)) break;
    index = messages.slice(0, index).findLastIndex(isRequest);
  }
  return found;
}

/** Tells whether a message has words or files of the user; hints are the system's. */
function isRequest({ role, content }: Message): boolean {
  return role === "user" && content.some(({ type }) => type === "text" || type === "data");
}
