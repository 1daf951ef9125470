import {
  type AgentState,
  type AgentStateStore,
  type Block,
  type ConversationLog,
  type DistributedStore,
  type LogRecord,
  type Message,
  type Slot,
  textOf,
} from "@holdfast/core";
import { CallOutcomes, isDiscarded, type RunOutcome, withBlobs } from "@holdfast/core/store-kit";
import { expect } from "vitest";

/** A slot of agent "a". */
export function slotOf(sessionId = "s", userId: string | null = null): Slot {
  return { agentId: "a", userId, sessionId };
}

/** One line per message: who, and what. */
export function outline(messages: readonly Message[] | AgentState | null | undefined): string[] {
  const list = messages && "context" in messages ? messages.context : (messages ?? []);
  return list.map(({ role, content }) => `${role}: ${content.map(blockText).join(" + ")}`);
}

function blockText(block: Block): string {
  switch (block.type) {
    case "tool_call":
      return `call ${block.name}`;
    case "tool_result":
      return `${block.state} ${block.output.map((part) => (part.type === "text" ? part.text : part.mediaType)).join()}`;
    case "data":
      return block.mediaType;
    case "hint":
      return `hint ${block.text}`;
    default:
      return block.text;
  }
}

/** Fails unless every call is followed by exactly one result before anything else is said. */
export function expectPaired(messages: readonly Message[]): void {
  let open = new Set<string>();
  for (const [index, { role, content }] of messages.entries()) {
    if (role !== "tool") expect([...open], `unanswered before message ${index}`).toEqual([]);
    for (const block of content) {
      if (block.type === "tool_call") open.add(block.id);
      if (block.type === "tool_result")
        expect(open.delete(block.toolCallId), `result ${block.toolCallId} has no open call`).toBe(
          true,
        );
    }
    if (role !== "tool" && role !== "assistant") open = new Set();
  }
  expect([...open], "unanswered at the end").toEqual([]);
}

/** Everything a session's log holds, oldest first. */
export async function logRecords(
  store: AgentStateStore | ConversationLog,
  slot: Slot,
): Promise<readonly LogRecord[]> {
  const log = "append" in store ? store : store.companions?.().log;
  const records = (await log?.read(slot, { limit: 1_000 })) ?? [];
  expect(records.length).toBeLessThan(1_000);
  return records;
}

/** The messages of a log, in order. */
export function logged(records: readonly LogRecord[]): Message[] {
  return records.flatMap(({ message }) => message ?? []);
}

/** How the calls of a log ended, in order. */
export function outcomes(records: readonly LogRecord[]): string[] {
  return records.flatMap(({ mark }) => (mark?.name === "call_end" ? [String(mark.outcome)] : []));
}

/** What the engine keeps of runs in a state's head; not part of the public type. */
export function keptRuns(state: AgentState | null | undefined): {
  readonly unfinishedRun: {
    readonly callId: string;
    readonly messageIds: readonly string[];
  } | null;
  readonly finishedCalls: readonly { readonly callId: string }[];
} {
  return state?.head() as unknown as ReturnType<typeof keptRuns>;
}

/** What readers of the log are told of each message in it: its outcome, and who said what. */
export async function fates(store: AgentStateStore, slot: Slot): Promise<string[]> {
  const found = await messageOutcomes(store, slot);
  return found.map(([message, outcome]) => `${outcome} ${outline([message]).join()}`);
}

/** What the log has of runs that were not discarded, each message as often as readers see it. */
export async function keptInLog(store: AgentStateStore, slot: Slot): Promise<string[]> {
  const found = await messageOutcomes(store, slot);
  return outline(found.flatMap(([message, outcome]) => (isDiscarded(outcome) ? [] : [message])));
}

/** Texts of a session's log as its readers find them: whole, and without those of runs that were discarded. */
export async function saidIn(
  { log, stateStore }: Pick<DistributedStore, "log" | "stateStore">,
  slot: Slot,
): Promise<string[]> {
  const outcomes = new CallOutcomes(log, { stateStore });
  const texts: string[] = [];
  for (const record of await logRecords(log, slot))
    if (record.message && !isDiscarded(await outcomes.of(slot, record))) {
      const { message } = await withBlobs(log, slot, record);
      texts.push(textOf(message ?? record.message));
    }
  return texts;
}

async function messageOutcomes(store: AgentStateStore, slot: Slot) {
  const parts = store.companions?.();
  if (!parts) throw new Error("the store has no log");
  const outcomes = new CallOutcomes(parts.log, { stateStore: store });
  const found: [Message, RunOutcome | null][] = [];
  for (const record of await logRecords(store, slot))
    if (record.message) found.push([record.message, await outcomes.of(slot, record)]);
  return found;
}
