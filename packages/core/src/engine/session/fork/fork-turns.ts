import { InvalidInputError } from "../../../errors/errors.js";
import type { Message } from "../../../message/message.js";
import { toolCallsOf, toolResultsOf } from "../../../message/read-message.js";
import { repairToolPairs } from "../../../message/repair-tool-pairs.js";
import type { LogRecord } from "../../../ports/conversation-log.js";
import { describeSlot } from "../../../slot/slot.js";
import { fitResults } from "../../tools/fit-results.js";
import type { ForkSource, KeptRecord } from "./fork-source.js";

/** Turns that a fork begins with. */
export interface ForkTurns {
  /** Messages for the model, every tool call with its result. */
  readonly context: readonly Message[];
  /** Records for the log, oldest first. */
  readonly records: readonly KeptRecord[];
  /** Position of the last message in the source's log; absent when the log has none of them. */
  readonly at: number | undefined;
  /** Nothing that was said in the source is left out, but for tool calls that wait for an answer. */
  readonly isWhole: boolean;
}

/** Settings of {@link forkTurns}. */
export interface ForkTurnsOptions {
  /** Position in the log, or id of a message. @default the end */
  readonly at: number | string | undefined;
  /** Most bytes of a message. */
  readonly messageBytes: number;
  /** Returns a record with its long strings. */
  whole(record: LogRecord): Promise<LogRecord>;
}

/**
 * Selects the turns up to a position. The context is the source's own where that still reaches back to the position, and
 * otherwise made of the original messages: its summary would tell of what came later. A message whose tool calls are not all
 * answered by then is left out with everything behind it.
 *
 * @throws InvalidInputError when there is no such position
 */
export async function forkTurns(
  source: ForkSource,
  { at, messageBytes, whole }: ForkTurnsOptions,
): Promise<ForkTurns> {
  const { state, kept } = source;
  const running = new Set(state.unfinishedRun?.messageIds);
  const present = state.messages.filter(({ id }) => !running.has(id));
  const end = at === undefined ? Number.POSITIVE_INFINITY : positionOf(source, present, at);
  const upTo = kept.filter(({ record }) => record.seq <= end);
  const behind = kept.filter(({ record }) => record.seq > end);
  const [idsUpTo, idsBehind] = [idsIn(upTo), idsIn(behind)];
  const held = new Set(state.messages.map(({ id }) => id));
  const tellsLater =
    state.summary !== null && [...idsBehind, ...running].some((id) => !held.has(id));
  const lastId = typeof at === "string" ? at : [...idsUpTo].at(-1);
  const last = at === undefined ? present.length : present.findIndex(({ id }) => id === lastId);
  // By their places in the log, which differ from those in the context where two processes have merged their turns.
  const isBefore = ({ id }: Message, index: number) =>
    idsUpTo.has(id) || (index <= last && !idsBehind.has(id));
  const said =
    last < 0 || tellsLater ? await originals(upTo, whole, messageBytes) : present.filter(isBefore);
  const context = withoutOpenCalls(said);
  const dropped = new Set(said.slice(context.length).map(({ id }) => id));
  const cut = upTo.findIndex(({ record }) => dropped.has(record.message?.id ?? ""));
  const records = cut < 0 ? upTo : upTo.slice(0, cut);
  return {
    context: repairToolPairs(context).messages,
    records,
    at: records.findLast(({ record }) => record.kind === "message")?.record.seq,
    isWhole: idsBehind.size === 0,
  };
}

/** Returns the position in the log up to which records are copied. @throws InvalidInputError */
function positionOf(
  { slot, positions, kept }: ForkSource,
  context: readonly Message[],
  at: number | string,
): number {
  const isSaid = ({ record }: KeptRecord) => record.kind === "message";
  if (typeof at === "number") {
    if (!positions.has(at))
      throw new InvalidInputError(
        `fork: there is no position ${at} in ${describeSlot(slot)}; session_history and log.read show them`,
      );
    if (kept.some((one) => isSaid(one) && one.record.seq <= at)) return at;
    throw new InvalidInputError(
      `fork: nothing was said in ${describeSlot(slot)} up to position ${at}, except in calls that were discarded or have not ended`,
    );
  }
  const found = kept.findLast(({ record }) => record.message?.id === at);
  if (found) return found.record.seq;
  const index = context.findIndex(({ id }) => id === at);
  if (index < 0)
    throw new InvalidInputError(
      `fork: no message with the id ${JSON.stringify(at)} is part of ${describeSlot(slot)}, or its call has not ended`,
    );
  // A log that was begun later, or lost: as much as it has.
  const ids = new Set(context.slice(0, index + 1).map(({ id }) => id));
  return kept.findLast(({ record }) => ids.has(record.message?.id ?? ""))?.record.seq ?? 0;
}

/** Returns the ids of messages, in the order of their records. */
function idsIn(records: readonly KeptRecord[]): ReadonlySet<string> {
  return new Set(records.flatMap(({ record }) => (record.message ? [record.message.id] : [])));
}

/** Returns the messages as they were said, each once, and of large results as much as a context may have. */
async function originals(
  records: readonly KeptRecord[],
  whole: ForkTurnsOptions["whole"],
  maxBytes: number,
): Promise<readonly Message[]> {
  const said = new Map<string, Message>();
  for (const { record } of records) {
    const { message } = await whole(record);
    if (message)
      said.set(message.id, message.role === "tool" ? fitResults(message, maxBytes) : message);
  }
  return [...said.values()];
}

/** Cuts before the last message with tool calls while not all of them are answered. */
function withoutOpenCalls(messages: readonly Message[]): readonly Message[] {
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  const caller = messages[last];
  if (caller === undefined) return messages;
  const answers = messages.slice(last + 1).flatMap(toolResultsOf);
  const answered = new Set(answers.map(({ toolCallId }) => toolCallId));
  return toolCallsOf(caller).every(({ id }) => answered.has(id))
    ? messages
    : withoutOpenCalls(messages.slice(0, last));
}
