import { expect, test } from "vitest";
import { CallFollower } from "../../src/engine/feed/call-follower.js";
import { readEvents } from "../../src/engine/feed/read-events.js";
import { StateCorruptError } from "../../src/errors/store-errors.js";
import type { AgentEvent } from "../../src/events/agent-event.js";
import type { EventFeed } from "../../src/ports/event-feed.js";

const slot = { agentId: "a", userId: null, sessionId: "s" };

/** Reads the events of a call from a feed whose pages `read` gives. */
async function eventsOf(read: EventFeed["read"], to: AgentEvent[]): Promise<void> {
  const feed: EventFeed = {
    ...{ contract: 1, kind: "test", reach: "process" },
    append: async () => null,
    read,
    open: async () => [],
    delete: async () => undefined,
  };
  const follower = new CallFollower(
    { feed, slot, callId: "c", whereabouts: async () => "running", onUnused: () => undefined },
    { runId: "r", last: -1, ended: false, batches: [] },
  );
  const signal = AbortSignal.timeout(2_000);
  for await (const event of readEvents(follower, { slot, callId: "c", after: -1, signal }))
    to.push(event);
}

test("a damaged feed ends its readers with the error, and is not asked for ever", async () => {
  const error = new StateCorruptError("the events are damaged");
  await expect(eventsOf(() => Promise.reject(error), [])).rejects.toBe(error);
});

test.each([
  "not JSON",
  "[null]",
  "[{}]",
  '[{"deltas":{"type":"text_delta","text":"a"}}]',
  '[{"later":{}}]',
])("a batch that cannot be read is told as dropped events: %s", async (body) => {
  const page = { runId: "r", last: 1, ended: true };
  const batches = [
    { runId: "r", first: 0, count: 1, body },
    { runId: "r", first: 1, count: 1, body: '[{"event":{"type":"call_end"}}]' },
  ];
  const events: AgentEvent[] = [];
  const read: EventFeed["read"] = async (_, _callId, after) => ({
    ...page,
    batches: batches.filter(({ first }) => first > after),
  });
  await eventsOf(read, events);
  expect(events).toMatchObject([
    { type: "events_dropped", count: 1, seq: 0 },
    { type: "call_end", seq: 1 },
  ]);
});
