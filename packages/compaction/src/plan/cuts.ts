import { type Message, toolCallsOf, toolResultsOf } from "@holdfast/core";

/**
 * Returns the places where a list can be cut without separating a tool call from its result: `canCut[i]` is about a cut
 * before message `i`.
 *
 * A result belongs to the nearest preceding call with its id that has no result yet, so that reused ids do not tie a whole
 * conversation together. Nothing may be cut off from an open call on.
 */
export function cuttable(messages: readonly Message[], open: ReadonlySet<string>): boolean[] {
  /** +1 where a pair starts to forbid cuts, −1 where it stops. */
  const change = new Int32Array(messages.length + 2);
  const waiting = new Map<string, number[]>();
  const forbid = (from: number, to: number): void => {
    if (from > to) return;
    change[from] = (change[from] as number) + 1;
    change[to + 1] = (change[to + 1] as number) - 1;
  };
  for (const [index, message] of messages.entries()) {
    for (const { id } of toolCallsOf(message)) {
      const callers = waiting.get(id);
      if (callers) callers.push(index);
      else waiting.set(id, [index]);
    }
    for (const { toolCallId } of toolResultsOf(message)) {
      const caller = waiting.get(toolCallId)?.pop();
      if (caller !== undefined) forbid(caller + 1, index);
    }
  }
  for (const id of open)
    for (const caller of waiting.get(id) ?? []) forbid(caller + 1, messages.length);
  const canCut: boolean[] = [];
  let spans = 0;
  for (let index = 0; index <= messages.length; index++) {
    spans += change[index] as number;
    canCut.push(spans === 0);
  }
  return canCut;
}

/** Messages that stay at either end of what was said into one turn. */
const KEPT_AT_ENDS = 4;

/**
 * Returns the indices of the current request: the last run of messages in which the user asks for something.
 *
 * A run behind tool results was said into a turn that had begun: the agent was steered, or stopped and spoken to. What that turn
 * was asked is current too, so the first messages of all that was said into it stay with the last run: of a turn that is steered
 * without end a few at either end. Words in one message with results cannot stay without the calls, so they are only ever in the
 * last run.
 */
export function currentRequest(messages: readonly Message[]): readonly number[] {
  const last = lastRun(messages, messages.length);
  let said = last;
  let [start] = last;
  while (start !== undefined && isBehindResults(messages, start)) {
    const run = lastRun(messages, start);
    if (run.some((index) => hasToolBlock(messages[index] as Message))) break;
    said = [...run, ...said];
    [start] = run;
  }
  const tail = said.length - Math.max(KEPT_AT_ENDS, last.length);
  return said.filter((_, at) => at < KEPT_AT_ENDS || at >= tail);
}

/** Returns the indices of the last run of requests in front of `end`. */
function lastRun(messages: readonly Message[], end: number): readonly number[] {
  const run: number[] = [];
  for (let index = end - 1; index >= 0; index--)
    if (isRequest(messages[index] as Message)) run.unshift(index);
    else if (run.length > 0) break;
  return run;
}

/** Tells whether a message with tool results is the last in front of `index`, but for hints. */
function isBehindResults(messages: readonly Message[], index: number): boolean {
  const before = messages.findLast(
    ({ content }, at) => at < index && content.some(({ type }) => type !== "hint"),
  );
  return before?.content.some(({ type }) => type === "tool_result") ?? false;
}

/** Tells whether a message cannot stay without the other half of its pairs. */
export function hasToolBlock({ content }: Message): boolean {
  return content.some(({ type }) => type === "tool_call" || type === "tool_result");
}

/** Tells whether the user says something: hints come from the system, and some programs send tool results as the user. */
function isRequest({ role, content }: Message): boolean {
  return role === "user" && content.some(({ type }) => type === "text" || type === "data");
}

/** Upper limits of a tail; null means no limit. */
export interface TailLimit {
  readonly messages: number | null;
  readonly tokens: number | null;
}

/**
 * Returns the index of the first message of the verbatim tail.
 *
 * A limit in messages is a wish, so the tail is widened to whole pairs; a limit in tokens is a maximum, so it is narrowed.
 * The tail never starts before `from`, and may be empty.
 */
export function tailStart(
  messages: readonly Message[],
  canCut: readonly boolean[],
  from: number,
  limit: TailLimit,
  tokensOf: (message: Message) => number,
): number {
  const { length } = messages;
  /** Start of the longest tail so far that begins at an allowed cut; null while open calls forbid any. */
  let best: number | null = canCut[length] ? length : null;
  let tokens = 0;
  for (let start = length; start > from; start--) {
    if (best === start && limit.messages !== null && length - start >= limit.messages) break;
    tokens += tokensOf(messages[start - 1] as Message);
    if (best !== null && limit.tokens !== null && tokens > limit.tokens) break;
    if (canCut[start - 1]) best = start - 1;
  }
  return best ?? from;
}
