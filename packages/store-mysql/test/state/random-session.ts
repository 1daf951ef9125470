import assert from "node:assert/strict";
import { type Message, type Slot, userMessage } from "@holdfast/core";
import {
  isWhole,
  type LoadAnswer,
  type LogDraft,
  loadWhole,
  type StateWrite,
  uuidv7,
  withBlobs,
} from "@holdfast/core/store-kit";
import type { MysqlDistributedStore } from "@holdfast/store-mysql";
import fc from "fast-check";
import { recordOf, slotNamed, turnWrite } from "./turns.js";

/** A message, and how it is logged with its save. */
interface Said {
  readonly text: string;
  readonly logged: "as it is" | "as a copy" | "with an id that is there" | "not";
}

/** A step in the life of a session; `by` is the node that takes it. */
export type SessionStep = { readonly by: number; readonly said: readonly Said[] } & (
  | { readonly kind: "turn" | "log" | "delete log" | "delete state" | "fork" }
  | { readonly kind: "edit"; readonly dropped: number; readonly at: number }
  | { readonly kind: "compaction"; readonly tail: number }
);

const said: fc.Arbitrary<readonly Said[]> = fc.array(
  fc.record({
    text: fc.oneof(
      { weight: 9, arbitrary: fc.string({ unit: "binary", maxLength: 60 }) },
      { weight: 1, arbitrary: fc.constant("long".repeat(20_000)) },
    ),
    logged: fc.constantFrom("as it is", "as it is", "as a copy", "with an id that is there", "not"),
  }),
  { maxLength: 6 },
);
const by = fc.nat({ max: 1 });
const kinds = ["turn", "turn", "turn", "log", "delete log", "delete state", "fork"] as const;

/** Steps that save, edit, log, fork and delete. */
export const sessionSteps: fc.Arbitrary<SessionStep[]> = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ by, said, kind: fc.constantFrom(...kinds) }) },
    fc.record({
      ...{ by, said, kind: fc.constant("edit") },
      ...{ dropped: fc.nat({ max: 4 }), at: fc.nat({ max: 9 }) },
    }),
    fc.record({ by, said, kind: fc.constant("compaction"), tail: fc.nat({ max: 3 }) }),
  ) as fc.Arbitrary<SessionStep>,
  { minLength: 4, maxLength: 14, size: "max" },
);

/** A session of two nodes beside all that was saved and logged of it. */
export class RandomSession {
  readonly #nodes: readonly MysqlDistributedStore[];
  #slot: Slot = slotNamed(uuidv7());
  #revision: string | null = null;
  #messages: readonly Message[] = [];
  #records: LogDraft[] = [];
  /** Messages of the latest revisions. */
  #seen = new Map<string, readonly Message[]>();

  constructor(nodes: readonly MysqlDistributedStore[]) {
    this.#nodes = nodes;
  }

  async take(step: SessionStep): Promise<void> {
    const { stateStore, log } = this.#node(step.by);
    switch (step.kind) {
      case "turn":
        return this.#save(step, this.#messages, { keep: this.#messages.length });
      case "edit": {
        const kept = this.#messages.slice(0, Math.max(this.#messages.length - step.dropped, 0));
        const other = userMessage("another");
        const isEdited = step.at < kept.length;
        return this.#save(step, isEdited ? kept.with(step.at, other) : kept, {
          keep: kept.length,
          replace: isEdited ? [[step.at, other]] : [],
        });
      }
      case "compaction": {
        const tail = step.tail > 0 ? this.#messages.slice(-step.tail) : [];
        return this.#save(step, [userMessage("summary"), ...tail], { keep: 0 });
      }
      case "log":
        return log.append(this.#slot, this.#logged(step.said).drafts);
      case "delete log":
        await log.delete(this.#slot);
        this.#records = [];
        return;
      case "delete state":
        await stateStore.delete(this.#slot);
        [this.#revision, this.#messages, this.#seen] = [null, [], new Map()];
        return;
      case "fork":
        return this.#fork(this.#node(step.by));
    }
  }

  /** Compares what both nodes load, whole and from revisions they may know, with what was saved, and the log with what was logged. */
  async check(): Promise<void> {
    for (const { stateStore, gate } of this.#nodes) {
      const whole = await loadWhole(stateStore, this.#slot);
      assert.equal(whole?.revision ?? null, this.#revision);
      assert.deepEqual(whole?.messages ?? [], this.#messages);
      for (const [known, messages] of [...this.#seen].slice(-3)) {
        const answer = await stateStore.load(this.#slot, known);
        assert.deepEqual(messagesOf(answer, messages), this.#messages);
        const lease = await gate.acquire(this.#slot, { callId: uuidv7(), known: () => known });
        assert.deepEqual(lease.loaded, answer);
        await lease.release();
      }
    }
    if (this.#revision !== null) this.#seen.set(this.#revision, this.#messages);
    const { log } = this.#node(1);
    const records = await log.read(this.#slot, { limit: 10_000 });
    const whole = await Promise.all(records.map((record) => withBlobs(log, this.#slot, record)));
    assert.deepEqual(
      whole.map(({ id, message }) => ({ id, message })),
      this.#records.map(({ id, message }) => ({ id, message })),
    );
  }

  #node(index: number): MysqlDistributedStore {
    return this.#nodes[index] as MysqlDistributedStore;
  }

  async #save(
    { by, said }: SessionStep,
    before: readonly Message[],
    fields: Pick<StateWrite, "keep"> & Partial<StateWrite>,
  ): Promise<void> {
    const { messages, drafts } = this.#logged(said);
    const write = turnWrite(this.#slot, this.#revision, fields.keep, {
      ...fields,
      append: [...before.slice(fields.keep), ...messages],
      log: drafts,
    });
    this.#revision = await this.#node(by).stateStore.save(this.#slot, write);
    this.#messages = [...before, ...messages];
  }

  /** Goes on with a copy, after the log of the session it was made from is gone. */
  async #fork({ stateStore, log }: MysqlDistributedStore): Promise<void> {
    const loaded = await loadWhole(stateStore, this.#slot);
    if (loaded === null) return;
    const copy = slotNamed(uuidv7());
    const write = turnWrite(copy, null, 0, { append: loaded.messages, log: [] });
    this.#revision = await stateStore.save(copy, write);
    await log.delete(this.#slot);
    [this.#slot, this.#records, this.#seen] = [copy, [], new Map()];
  }

  /** Messages, and their records; those that are new are expected in the log from now on. */
  #logged(said: readonly Said[]): { messages: Message[]; drafts: LogDraft[] } {
    const messages = said.map(({ text }) => userMessage(text));
    const drafts = said.flatMap(({ logged }, index): LogDraft[] => {
      const draft = recordOf(messages[index] as Message);
      if (logged === "not") return [];
      if (logged === "as a copy") return [{ ...draft, message: userMessage("a copy") }];
      const there = this.#records.at(-1)?.id;
      return [logged === "as it is" || there === undefined ? draft : { ...draft, id: there }];
    });
    const ids = new Set(this.#records.map(({ id }) => id));
    this.#records = [...this.#records, ...drafts.filter(({ id }) => !ids.has(id))];
    return { messages, drafts };
  }
}

/** Messages after an answer to a node that has `known` ones. */
function messagesOf(answer: LoadAnswer, known: readonly Message[]): readonly Message[] {
  if (answer === "unchanged") return known;
  if (answer === null) return [];
  if (isWhole(answer)) return answer.messages;
  const kept = known.slice(0, answer.keep);
  for (const [index, message] of answer.replace) kept[index] = message;
  return [...kept, ...answer.append];
}
