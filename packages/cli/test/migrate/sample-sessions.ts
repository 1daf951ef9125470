import type {
  DistributedStore,
  JsonObject,
  Message,
  Revision,
  SessionInfo,
  Slot,
} from "@holdfast/core";
import { type LogDraft, nextRevision, type StateWrite } from "@holdfast/core/store-kit";
import { nastyIds } from "@holdfast/testing";

/** A session to be put into a store. */
export interface SampleSession {
  readonly slot: Slot;
  readonly head: JsonObject;
  readonly messages: readonly Message[];
  readonly records: readonly LogDraft[];
  /** Number of saves. */
  readonly saves: number;
}

const texts = [
  "plain",
  "漢字 und Ümläute 🙂🏽",
  'quotes " and \\ and \u0000 and \n and \u2028',
  "a lone surrogate \ud800 stays",
  "",
  "__proto__",
];

/** Sessions of many kinds, always the same ones for a number. */
export function sampleSessions(count: number): SampleSession[] {
  return Array.from({ length: count }, (_, index) => sampleSession(index));
}

/** Every 250th is long, every 25th has long texts, some have no log, some have odd ids, some are anonymous. */
export function sampleSession(index: number): SampleSession {
  const isOdd = index % 7 === 3;
  const odd = nastyIds[index % nastyIds.length] ?? "odd";
  const slot: Slot = {
    agentId: isOdd ? odd : `agent-${index % 3}`,
    userId: index % 5 === 0 ? null : index % 11 === 1 ? odd : `user-${index % 17}`,
    sessionId: isOdd ? odd : `session-${index}`,
  };
  // Odd ids come round again: the number keeps sessions apart.
  const unique = isOdd ? { ...slot, sessionId: `${index}${odd}`.slice(0, 120) } : slot;
  const isLong = index % 250 === 50;
  const messages = Array.from({ length: isLong ? 120 : index % 6 }, (_, at) =>
    sampleMessage(index, at),
  );
  return {
    slot: { ...unique, sessionId: unique.sessionId.replace(/[\ud800-\udbff]$/u, "") },
    head: headOf(index),
    messages,
    records: index % 9 === 4 ? [] : recordsOf(index, messages, isLong),
    saves: index % 8 === 0 ? 3 : 1,
  };
}

function headOf(index: number): JsonObject {
  return {
    format: "holdfast.state",
    schemaVersion: 1,
    minReader: 1,
    zebra: index,
    extensions: {
      "memory-flush": { seen: index, note: texts[index % texts.length] ?? "" },
      plugin: JSON.parse('{"__proto__": {"polluted": true}, "2": "b", "10": "a", "z": null}'),
    },
    openCalls: {},
  };
}

export function sampleMessage(index: number, at: number): Message {
  const text = `${texts[(index + at) % texts.length]} ${index}.${at}`;
  const id = `message-${index}-${at}`;
  const createdAt = new Date(1_700_000_000_000 + index * 1_000 + at).toISOString();
  if (at % 3 === 1)
    return {
      id,
      role: "assistant",
      createdAt,
      content: [
        { type: "thinking", text, providerMetadata: { signature: "s".repeat(40) } },
        { type: "tool_call", id: `call-${at}`, name: "read", input: { path: text, deep: [[{}]] } },
      ],
      usage: { inputTokens: 10 * at, outputTokens: at },
    };
  if (at % 3 === 2)
    return {
      id,
      role: "tool",
      createdAt,
      content: [
        {
          type: "tool_result",
          toolCallId: `call-${at - 1}`,
          name: "read",
          state: "success",
          output: [{ type: "text", text }],
        },
      ],
    };
  return { id, role: "user", createdAt, content: [{ type: "text", text }] };
}

function recordsOf(index: number, messages: readonly Message[], isLong: boolean): LogDraft[] {
  const records = messages.map((message, at) => recordOf(index, at, message));
  if (isLong)
    for (let at = 0; at < 480; at++)
      records.push(recordOf(index, 1_000 + at, sampleMessage(index, 1_000 + at)));
  if (index % 25 === 10) {
    const long = `${"long text ".repeat(9_000)}${index}`;
    const blob = { ...sampleMessage(index, 0), id: `long-${index}` };
    const twice = [
      { type: "text" as const, text: long },
      { type: "text" as const, text: long },
    ];
    records.push(recordOf(index, 5_000, { ...blob, content: twice }));
    records.push(
      recordOf(index, 5_001, { ...blob, content: [{ type: "text", text: `${long}!` }] }),
    );
  }
  records.push({
    v: 1,
    id: `end-${index}`,
    callId: `call-${index}`,
    at: new Date(1_700_000_000_000 + index).toISOString(),
    kind: "mark",
    mark: { name: "call_end", outcome: "committed" },
  });
  return records;
}

export function recordOf(index: number, at: number, message: Message): LogDraft {
  return {
    v: 1,
    id: `record-${index}-${at}`,
    callId: `call-${index}`,
    at: message.createdAt,
    kind: "message",
    message,
  };
}

/**
 * Puts sessions into a store as agents would: the log first, then the state, in several saves.
 *
 * @param twin - gets the very same, revisions too
 */
export async function seed(
  parts: DistributedStore,
  sessions: readonly SampleSession[],
  twin?: DistributedStore,
): Promise<void> {
  const queue = sessions.values();
  const worker = async (): Promise<void> => {
    for (const session of queue) await seedOne(parts, session, twin);
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}

function factsOf({ length }: readonly Message[]): SessionInfo {
  const title = texts[length % texts.length] ?? "";
  const metadata = { deep: [{ title }], none: null };
  return { unfinished: length === 4, waiting: length === 2, title, metadata, counts: { length } };
}

export async function seedOne(
  parts: DistributedStore,
  { slot, head, messages, records, saves }: SampleSession,
  twin?: DistributedStore,
): Promise<void> {
  const stores = twin === undefined ? [parts] : [parts, twin];
  if (records.length > 0) for (const { log } of stores) await log.append(slot, records);
  let expected: Revision | null = null;
  for (let save = 1; save <= saves; save++) {
    const isLast = save === saves;
    const write: StateWrite = {
      op: `op-${save}`,
      expected,
      revision: nextRevision(expected),
      head: isLast ? head : { ...head, saves: save },
      keep: 0,
      replace: [],
      append: isLast ? messages : messages.slice(0, save),
      // Not with the last save: facts stay until others are given.
      ...(save === 1 && messages.length % 2 === 0 && { info: factsOf(messages) }),
    };
    for (const { stateStore } of stores) expected = await stateStore.save(slot, write);
  }
}
