import { type Message, toolCallsOf, toolResultsOf } from "@holdfast/core";

/**
 * Where a list may be cut without parting a tool call from its result: `canCut[i]` tells about a cut before message `i`.
 *
 * A result belongs to the nearest call of its id in front of it that has no result yet, so that ids used again and again
 * do not tie a whole conversation together. Nothing from an open call on may be cut off.
 */
export function cuttable(messages: readonly Message[], open: ReadonlySet<string>): boolean[] {
  /** +1 where a pair begins to forbid cuts, −1 where it ends. */
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
