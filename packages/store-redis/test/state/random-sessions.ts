import assert from "node:assert/strict";
import { type JsonObject, type Message, type Slot, userMessage } from "@holdfast/core";
import {
  isWhole,
  type LoadAnswer,
  type LoadedState,
  type LogDraft,
  logRecordText,
  nextRevision,
  uuidv7,
  withBlobs,
} from "@holdfast/core/store-kit";
import fc from "fast-check";
import type { RedisAgentStateStore } from "../../src/state/redis-agent-state-store.js";
import { firstWrite, loadState, nextWrite } from "./stores.js";

/** A step in the life of a session; `by` is the node that takes it. */
export type SessionStep = { readonly by: number } & (
  | { readonly kind: "turn"; readonly said: readonly Said[]; readonly leased: boolean }
  | { readonly kind: "edit"; readonly dropped: number; readonly at: number; readonly said: Said[] }
  | { readonly kind: "compaction"; readonly tail: number; readonly said: readonly Said[] }
  | { readonly kind: "log"; readonly said: readonly Said[] }
  | { readonly kind: "delete log" }
  | { readonly kind: "earlier release" }
);

/** A message, and how it is logged: with the id of a record, and as another object than the one saved. */
interface Said {
  readonly text: string;
  readonly logged: "with its save" | "as a copy" | "again" | "not";
  readonly id: string;
  readonly callId: string;
}

const said: fc.Arbitrary<Said> = fc.record({
  text: fc.oneof(
    { weight: 9, arbitrary: fc.string({ unit: "binary", maxLength: 60 }) },
    { weight: 1, arbitrary: fc.constant("long".repeat(20_000)) },
  ),
  logged: fc.constantFrom("with its save", "with its save", "as a copy", "again", "not"),
  id: fc.constantFrom("", "", 'odd "', "🌤", "a\tb"),
  callId: fc.constantFrom("call", "call", 'ca"ll,"at":"x","kind":', "漢"),
});
const many = fc.array(said, { maxLength: 4 });
const by = fc.nat({ max: 1 });

/** Steps that save, edit, log and delete. */
export const sessionSteps: fc.Arbitrary<SessionStep[]> = fc.array(
  fc.oneof(
    fc.record({ by, kind: fc.constant("turn"), said: many, leased: fc.boolean() }),
    fc.record({ by, kind: fc.constant("turn"), said: many, leased: fc.boolean() }),
    fc.record({
      ...{ by, kind: fc.constant("edit"), said: many },
      ...{ dropped: fc.nat({ max: 4 }), at: fc.nat({ max: 9 }) },
    }),
    fc.record({ by, kind: fc.constant("compaction"), tail: fc.nat({ max: 3 }), said: many }),
    fc.record({ by, kind: fc.constant("log"), said: many }),
    fc.record({ by, kind: fc.constant("delete log") }),
    fc.record({ by, kind: fc.constant("earlier release") }),
  ) as fc.Arbitrary<SessionStep>,
  { maxLength: 12 },
);

/** A session of two nodes beside all that was saved and logged of it. */
export class RandomSession {
  readonly #nodes: readonly RedisAgentStateStore[];
  readonly #slot: Slot;
  readonly #saveAsBefore: ((slot: Slot, state: LoadedState) => Promise<void>) | undefined;
  #head: JsonObject = {};
  #messages: readonly Message[] = [];
  #records: LogDraft[] = [];
  /** Messages of the latest revisions. */
  readonly #seen = new Map<string, readonly Message[]>();

  /** @param saveAsBefore - replaces all messages by those given, as a release without references does */
  constructor(
    nodes: readonly RedisAgentStateStore[],
    slot: Slot,
    saveAsBefore?: (slot: Slot, state: LoadedState) => Promise<void>,
  ) {
    this.#nodes = nodes;
    this.#slot = slot;
    this.#saveAsBefore = saveAsBefore;
  }

  async begin(): Promise<void> {
    const write = firstWrite(["first"], { head: this.#head });
    await this.#node(0).save(this.#slot, { ...write, log: [this.#draft("r.0", write.append[0])] });
    this.#messages = write.append;
    await this.check();
  }

  async take(step: SessionStep): Promise<void> {
    const store = this.#node(step.by);
    const log = store.fuses.log;
    switch (step.kind) {
      case "turn":
        return this.#save(store, step.said, this.#messages, {}, step.leased);
      case "edit": {
        const kept = this.#messages.slice(0, Math.max(this.#messages.length - step.dropped, 0));
        const at = step.at < kept.length ? step.at : undefined;
        const other = userMessage("another");
        const edited = kept.map((message, index) => (index === at ? other : message));
        const replace = at === undefined ? [] : [[at, other] as const];
        return this.#save(store, step.said, edited, { keep: kept.length, replace });
      }
      case "compaction": {
        const { tail } = step;
        const short = [userMessage("summary"), ...(tail > 0 ? this.#messages.slice(-tail) : [])];
        return this.#save(store, step.said, short, { keep: 0, append: short });
      }
      case "log": {
        const { drafts } = this.#drafts(step.said);
        return log.append(this.#slot, drafts);
      }
      case "delete log":
        await log.delete(this.#slot);
        this.#records = [];
        return;
      case "earlier release": {
        if (this.#saveAsBefore === undefined) return;
        const loaded = await loadState(store, this.#slot);
        const revision = nextRevision(loaded.revision);
        this.#messages = [userMessage("instead")];
        this.#head = { of: revision };
        const saved = { ...loaded, revision, head: this.#head, messages: this.#messages };
        await this.#saveAsBefore(this.#slot, saved);
      }
    }
  }

  /** Compares what every node loads, whole and from revisions it may know, with what was saved, and the log with what was logged. */
  async check(): Promise<void> {
    const present = await loadState(this.#node(0), this.#slot);
    assert.deepEqual(present.head, this.#head);
    assert.deepEqual(present.messages, this.#messages);
    for (const [known, messages] of [...this.#seen].slice(-4))
      for (const store of this.#nodes) {
        const answer = await store.load(this.#slot, known);
        assert.deepEqual(messagesOf(answer, messages), this.#messages);
        if (answer !== null && answer !== "unchanged") assert.deepEqual(answer.head, this.#head);
        const { gate } = store.fuses;
        const lease = await gate.acquire(this.#slot, { callId: uuidv7(), known: () => known });
        assert.deepEqual(lease.loaded, answer);
        await lease.release();
      }
    this.#seen.set(present.revision, this.#messages);
    const { log } = this.#node(1).fuses;
    const read = await log.read(this.#slot, { after: 0, limit: 1_000 });
    const whole = await Promise.all(read.map((record) => withBlobs(log, this.#slot, record)));
    const expected = this.#records.map((draft, at) => logRecordText({ ...draft, seq: at + 1 }));
    assert.deepEqual(whole.map(logRecordText), expected);
    const newest = await log.read(this.#slot, { limit: 3 });
    assert.deepEqual(newest, read.slice(-3));
  }

  #node(index: number): RedisAgentStateStore {
    return this.#nodes[index % this.#nodes.length] as RedisAgentStateStore;
  }

  async #save(
    store: RedisAgentStateStore,
    said: readonly Said[],
    before: readonly Message[],
    change: { keep?: number; replace?: (readonly [number, Message])[]; append?: Message[] },
    leased = false,
  ): Promise<void> {
    const { messages, drafts } = this.#drafts(said);
    const loaded = await loadState(store, this.#slot);
    const callId = uuidv7();
    const lease = leased ? await store.fuses.gate.acquire(this.#slot, { callId }) : undefined;
    const append = [...(change.append ?? []), ...messages];
    const held = lease && { lease: lease.token, release: true };
    // Most saves leave the head as it is.
    if (said.length > 2) this.#head = { of: callId };
    const fields = { ...change, append, log: drafts, head: this.#head, ...held };
    await store.save(this.#slot, nextWrite(loaded, [], fields));
    await lease?.release();
    this.#messages = [...before, ...messages];
  }

  /** Messages to save and records to append; those that are new are expected in the log from now on. */
  #drafts(said: readonly Said[]): { messages: Message[]; drafts: LogDraft[] } {
    const run = uuidv7();
    const messages = said.map(({ text }) => userMessage(text));
    const drafts = said.flatMap(({ logged, id, callId }, at) => {
      if (logged === "not") return [];
      const message = messages[at];
      const copy = logged === "as a copy" ? structuredClone(message) : message;
      const again = logged === "again" ? this.#records.at(-1)?.id : undefined;
      const draft = { ...this.#draft(again ?? `${run}.${at}${id}`, copy, callId) };
      if (again !== undefined) this.#records.pop();
      return [draft];
    });
    return { messages, drafts: [...drafts, this.#mark(run)] };
  }

  #draft(id: string, message: Message | undefined, callId = "call"): LogDraft {
    const at = message?.createdAt ?? "";
    const draft: LogDraft = { v: 1, id, callId, at, kind: "message", message };
    this.#records.push(draft);
    return draft;
  }

  #mark(run: string): LogDraft {
    const at = new Date().toISOString();
    const mark = { name: "call_end", outcome: "committed" } as const;
    const draft: LogDraft = { v: 1, id: `${run}.end`, callId: "call", at, kind: "mark", mark };
    this.#records.push(draft);
    return draft;
  }
}

function messagesOf(answer: LoadAnswer, known: readonly Message[]): readonly Message[] {
  if (answer === null) throw new Error("nothing is stored");
  if (answer === "unchanged") return known;
  if (isWhole(answer)) return answer.messages;
  const kept = known.slice(0, answer.keep);
  for (const [index, message] of answer.replace) kept[index] = message;
  return [...kept, ...answer.append];
}
