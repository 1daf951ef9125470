import type { AgentEvent } from "../../events/agent-event.js";
import { noUsage } from "../../plugin-kit/ask-model.js";
import type { Slot } from "../../slot/slot.js";
import type { CallFollower } from "./call-follower.js";

/** A reader of the events of a call. */
export interface FeedReader {
  readonly slot: Slot;
  readonly callId: string;
  /** Number of the last event that it knows; -1 for none. */
  readonly after: number;
  /** Ends the reading. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads the events of a call behind a position, and says what is missing of them: the end too, when the process of the call died
 * between its last save and its last events.
 */
export async function* readEvents(
  follower: CallFollower,
  { slot, callId, after, signal }: FeedReader,
): AsyncGenerator<AgentEvent, void, undefined> {
  let seq = after;
  /** Run of the last event, unless that event ended it. */
  let openRun: string | undefined;
  /** Lost run that the reader was told of. */
  let told: string | undefined;
  const lost = (runId: string): AgentEvent => {
    told = runId;
    return { type: "run_lost", slot, callId, runId, seq };
  };
  const dropped = (runId: string, upTo: number): AgentEvent => {
    const count = upTo - seq;
    seq = upTo;
    return { type: "events_dropped", count, slot, callId, runId, seq };
  };
  follower.join();
  try {
    for (;;) {
      const next = await follower.next(seq, told, signal);
      if (next === "end") return;
      if ("lost" in next) {
        yield lost(next.lost);
        continue;
      }
      if ("replied" in next) {
        const { replied: reason, runId } = next;
        const envelope = { slot, callId, runId, seq };
        yield { type: "events_dropped", count: 1, ...envelope };
        yield { type: "call_end", reason, usage: noUsage, durationMs: 0, ...envelope };
        return;
      }
      for (const { runId, first, last, events } of next.batches) {
        if (last <= seq) continue;
        if (openRun !== undefined && openRun !== runId && openRun !== told) yield lost(openRun);
        if (first > seq + 1) yield dropped(runId, first - 1);
        for (const event of events) {
          if (event.seq <= seq) continue;
          seq = event.seq;
          yield event;
        }
        // A text that could not be read.
        if (seq < last) yield dropped(runId, last);
        openRun = events.at(-1)?.type === "call_end" ? undefined : runId;
      }
    }
  } finally {
    follower.leave();
  }
}
