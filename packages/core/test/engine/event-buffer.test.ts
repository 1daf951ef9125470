import type { AgentEvent } from "@holdfast/core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EventBuffer, MAX_UNREAD_BYTES, MAX_UNREAD_EVENTS } from "../../src/engine/event-buffer.js";
import type { EventBody } from "../../src/events/agent-event.js";

const envelope = {
  slot: { agentId: "a", userId: null, sessionId: "s" },
  callId: "c",
  runId: "r",
};
const call_end: EventBody = {
  type: "call_end",
  reason: "stop",
  usage: { inputTokens: 0, outputTokens: 0 },
  durationMs: 1,
};

/** A buffer with these events, and the most events and bytes that were unread at any time. */
function filled(bodies: Iterable<EventBody>): {
  buffer: EventBuffer;
  size: number;
  bytes: number;
} {
  const buffer = new EventBuffer();
  let [size, bytes] = [0, 0];
  const push = (body: EventBody) => {
    buffer.push(body, envelope);
    size = Math.max(size, buffer.size);
    bytes = Math.max(bytes, buffer.bytes);
  };
  push({ type: "call_start" });
  for (const body of bodies) push(body);
  push(call_end);
  buffer.end();
  return { buffer, size, bytes };
}

async function read(buffer: EventBuffer): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  for (let next = await buffer.next(); !next.done; next = await buffer.next())
    events.push(next.value);
  return events;
}

/** Text of each kind of delta, in order. */
function texts(events: readonly EventBody[]): Record<string, string> {
  const byKind: Record<string, string> = {};
  for (const event of events) {
    const [kind, text] =
      event.type === "tool_call_delta"
        ? [event.toolCallId, event.inputDelta]
        : event.type === "text_delta" || event.type === "thinking_delta"
          ? [event.type, event.text]
          : [];
    if (kind !== undefined) byKind[kind] = (byKind[kind] ?? "") + text;
  }
  return byKind;
}

const delta = (kind: number, text: string): EventBody =>
  kind === 0
    ? { type: "text_delta", text, messageId: "m", blockId: "m.1" }
    : kind === 1
      ? { type: "thinking_delta", text, messageId: "m", blockId: "m.2" }
      : { type: "tool_call_delta", toolCallId: `call_${kind}`, inputDelta: text };

describe("events that nobody reads", () => {
  test("stay as they came up to the limit", async () => {
    const bodies = Array.from({ length: MAX_UNREAD_EVENTS - 2 }, (_, n) => delta(n % 4, `${n},`));
    const events = await read(filled(bodies).buffer);
    expect(events).toHaveLength(MAX_UNREAD_EVENTS);
    expect(events.slice(1, -1)).toMatchObject(bodies);
  });

  test("a million alternating deltas of text, thinking and three tools take a few events and a few megabytes", async () => {
    const expected: string[] = ["", "", "", "", ""];
    function* bodies(): Generator<EventBody> {
      for (let n = 0; n < 1_000_000; n++) {
        const text = `${n % 10}`;
        expected[n % 5] += text;
        yield delta(n % 5, text);
      }
    }
    const { buffer, size, bytes } = filled(bodies());
    expect(size).toBeLessThanOrEqual(MAX_UNREAD_EVENTS);
    expect(bytes).toBeLessThanOrEqual(MAX_UNREAD_BYTES);
    const events = await read(buffer);
    expect(Object.values(texts(events))).toEqual(expected);
    expect(events.some(({ type }) => type === "events_dropped")).toBe(false);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index));
  });

  test("deltas of two blocks are never merged into one", async () => {
    const bodies = Array.from({ length: 2 * MAX_UNREAD_EVENTS }, (_, n): EventBody => {
      const blockId = n < MAX_UNREAD_EVENTS ? "m.1" : "m.2";
      return { type: "text_delta", text: "x", messageId: "m", blockId };
    });
    const texts = new Map<string, number>();
    for (const event of await read(filled(bodies).buffer))
      if (event.type === "text_delta")
        texts.set(event.blockId, (texts.get(event.blockId) ?? 0) + event.text.length);
    expect([...texts]).toEqual([
      ["m.1", MAX_UNREAD_EVENTS],
      ["m.2", MAX_UNREAD_EVENTS],
    ]);
  });

  test("events that cannot be merged are dropped, the oldest first, and said to be", async () => {
    const many = 50_000;
    const bodies = Array.from({ length: many }, (_, n): EventBody[] => [
      { type: "tool_call_start", toolCallId: `${n}`, name: "t", messageId: "m" },
      delta(0, `${n},`),
    ]).flat();
    const { buffer, size } = filled(bodies);
    expect(size).toBeLessThanOrEqual(MAX_UNREAD_EVENTS);
    const events = await read(buffer);
    const [first, second, ...rest] = events;
    expect(first?.type).toBe("call_start");
    expect(second).toMatchObject({
      type: "events_dropped",
      count: bodies.length - rest.length + 1,
    });
    expect(rest.slice(0, -1)).toMatchObject(bodies.slice(1 - rest.length));
    expect(rest.at(-1)?.type).toBe("call_end");
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index));
  });

  test("more text than fits is dropped from its beginning", async () => {
    const piece = "x".repeat(100_000);
    const { buffer, bytes } = filled(
      Array.from({ length: 1_000 }, (_, n) => delta(0, `${piece}${n},`)),
    );
    expect(bytes).toBeLessThanOrEqual(MAX_UNREAD_BYTES + 2 * piece.length + 1_000);
    const events = await read(buffer);
    expect(events.map(({ type }) => type).slice(0, 2)).toEqual(["call_start", "events_dropped"]);
    expect(texts(events)["text_delta"]?.endsWith(`${piece}999,`)).toBe(true);
    expect(events.at(-1)?.type).toBe("call_end");
  });

  test("values that are no strings count too, also one that holds itself", () => {
    const circle: Record<string, unknown> = { list: Array.from({ length: 1_000 }, (_, n) => n) };
    circle["self"] = circle;
    const input = { bytes: new Uint8Array(1_000_000), circle } as never;
    const { bytes, size } = filled(
      Array.from(
        { length: 100 },
        (): EventBody => ({ type: "tool_call_end", toolCallId: "t", name: "t", input }),
      ),
    );
    expect(bytes).toBeLessThanOrEqual(MAX_UNREAD_BYTES + 1_100_000);
    expect(size).toBeLessThan(20);
  });

  test("a reader that waits gets each event as it was emitted, however many there were", async () => {
    const buffer = new EventBuffer();
    for (let n = 0; n < 2 * MAX_UNREAD_EVENTS; n++) {
      const next = buffer.next();
      buffer.push(delta(n % 3, `${n}`), envelope);
      expect((await next).value).toMatchObject({ ...delta(n % 3, `${n}`), seq: n });
    }
    expect([buffer.size, buffer.bytes]).toEqual([0, 0]);
  });

  test("whatever comes in whatever order, the bounds hold and each kind of text stays in order", async () => {
    const step = fc.record({
      kind: fc.nat(6),
      repeat: fc.constantFrom(1, 10, 4_000),
      reads: fc.constantFrom(0, 0, 1, 500),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
        const buffer = new EventBuffer();
        const events: AgentEvent[] = [];
        const pushed: EventBody[] = [];
        let [n, most] = [0, 0];
        for (const { kind, repeat, reads } of steps) {
          for (let i = 0; i < repeat; i++) {
            const body: EventBody =
              kind === 6
                ? { type: "overflow_recovery", recovered: true }
                : delta(n % (kind + 1), `${n},`);
            n++;
            pushed.push(body);
            buffer.push(body, envelope);
            most = Math.max(most, buffer.size);
          }
          for (let i = 0; i < reads && buffer.size > 0; i++)
            events.push((await buffer.next()).value as AgentEvent);
        }
        buffer.end();
        events.push(...(await read(buffer)));
        expect(most).toBeLessThanOrEqual(MAX_UNREAD_EVENTS);
        expect([buffer.size, buffer.bytes]).toEqual([0, 0]);
        expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index));
        const all = texts(pushed);
        const wasDropped = events.some(({ type }) => type === "events_dropped");
        for (const [kind, text] of Object.entries(texts(events)))
          if (wasDropped) expect(text.length).toBeLessThanOrEqual(all[kind]?.length ?? 0);
          else expect(text).toBe(all[kind]);
        if (!wasDropped) expect(texts(events)).toEqual(all);
      }),
      { numRuns: 30 },
    );
  });
});
