import assert from "node:assert/strict";
import { AgentState, type AgentStateStore, type Message, userMessage } from "@holdfast/core";
import {
  applyWrite,
  isWhole,
  type LoadAnswer,
  type LoadedState,
  revisionSeq,
  type StateChange,
  uuidv7,
} from "@holdfast/core/store-kit";
import fc from "fast-check";
import type { ConformanceCase } from "../conformance/conformance-case.js";
import { numberedMessages } from "../conformance/sample-messages.js";
import { sampleSlot as slot } from "../conformance/sample-slots.js";
import { scaled } from "../conformance/scaled.js";
import { applyEdit, type ContextEdit, contextEdits } from "./context-edits.js";
import { assertMessages, firstWrite, loadState, saveNext } from "./state-writes.js";
import type { AgentStateStoreOptions, StoreCase } from "./store-case.js";

/** Loads from a known revision: whatever they answer, it leads to what a whole load returns. */
export function changeCases(
  check: StoreCase,
  { deltaLoads = false, fuses = [] }: Pick<AgentStateStoreOptions, "deltaLoads" | "fuses">,
): ConformanceCase[] {
  return [
    check(
      "whatever writers edit in turn, a load from what one knows equals the whole load",
      async (store) => {
        let run = 0;
        const turns = fc.tuple(contextEdits(), fc.infiniteStream(fc.nat({ max: 2 })));
        const property = fc.asyncProperty(turns, async ([saves, writers]) => {
          const fleet = new Fleet(store, `fleet-${run++}`);
          for (const edits of saves) await fleet.turn(writers.next().value, edits);
          for (const writer of [0, 1, 2]) await fleet.turn(writer, []);
        });
        await fc.assert(property, { numRuns: scaled(30, 1_000) });
      },
    ),
    ...(deltaLoads ? answerCases(check) : []),
    ...(deltaLoads && fuses.includes("gate") ? [leaseCase(check), stepsCase(check)] : []),
  ];
}

function answerCases(check: StoreCase): ConformanceCase[] {
  return [
    check("a load from a known revision returns what changed since", async (store) => {
      const known = await begin(store, 50);
      const [replaced, ...appended] = numberedMessages(3, "new") as [Message, ...Message[]];
      await saveNext(store, slot, { keep: 50, replace: [[3, replaced]], append: appended });
      const change = await changeSince(store, known);
      assert.deepStrictEqual(change.replace, [[3, replaced]]);
      assertMessages(change.append, appended);
      assert.equal(change.keep, 50);
    }),
    check("it does so after a score of saves, and after many saves of one lease", async (store) => {
      const known = await begin(store, 50);
      for (let save = 0; save < 20; save++)
        await saveNext(store, slot, { append: [userMessage("x")] });
      const change = await changeSince(store, known);
      assert.equal(change.keep, 50);
      assert.equal(change.append.length, 20);
      const { revision } = await loadState(store, slot);
      const lease = await store.fuses?.gate?.acquire(slot, { callId: "steps" });
      for (let step = 0; step < 100; step++)
        await saveNext(store, slot, { append: [userMessage("step")], lease: lease?.token });
      await lease?.release();
      if (lease !== undefined)
        assert.equal((await changeSince(store, revision)).append.length, 100, "saves of one lease");
    }),
    check("messages that went and came again are part of the change", async (store) => {
      const known = await begin(store, 10);
      await saveNext(store, slot, { keep: 4, append: numberedMessages(8, "new") });
      await saveNext(store, slot, { keep: 6, replace: [[1, userMessage("r")]], append: [] });
      const change = await changeSince(store, known);
      assert.equal(change.keep, 4);
      assert.deepStrictEqual(
        change.replace.map(([index]) => index),
        [1],
      );
      assert.equal(change.append.length, 2);
    }),
    check(
      "a revision that the state does not go back to is answered whole, and said to be lost",
      async (store) => {
        await begin(store, 3);
        await saveNext(store, slot, { append: [userMessage("a")] });
        const { revision } = await loadState(store, slot);
        await saveNext(store, slot, { append: [userMessage("b")] });
        const lost = `${revisionSeq(revision)}.${"0".repeat(32)}`;
        const loaded = await store.load(slot, lost);
        assert.ok(isWhole(loaded), "a whole state");
        assert.equal(loaded.rolledBack, true, "the store holds another revision of that number");
        assert.equal(loaded.messages.length, 5);
        const unknown = await store.load(slot, `${revisionSeq(revision) + 50}.${"0".repeat(32)}`);
        assert.ok(isWhole(unknown));
      },
    ),
    check("a revision from before a delete is answered whole", async (store) => {
      const known = await begin(store, 3);
      await store.delete(slot);
      assert.equal(await store.load(slot, known), null);
      await begin(store, 2);
      await saveNext(store, slot, { append: [userMessage("a")] });
      assert.ok(isWhole(await store.load(slot, known)));
    }),
  ];
}

function leaseCase(check: StoreCase): ConformanceCase {
  return check("a lease brings what changed since the known revision", async (store) => {
    const known = await begin(store, 50);
    await saveNext(store, slot, { append: [userMessage("a")] });
    const gate = store.fuses?.gate;
    const lease = await gate?.acquire(slot, { callId: "c", known: () => known });
    const change = asChange(lease?.loaded);
    assert.deepStrictEqual([change.from, change.keep, change.append.length], [known, 50, 1]);
    await lease?.release();
  });
}

function stepsCase(check: StoreCase): ConformanceCase {
  return check(
    "a revision that was lost is told from the saves that one lease has made past it",
    async (store) => {
      await begin(store, 3);
      const lease = await store.fuses?.gate?.acquire(slot, { callId: "steps" });
      const steps: string[] = [];
      for (let step = 0; step < 4; step++) {
        await saveNext(store, slot, { append: [userMessage("step")], lease: lease?.token });
        steps.push((await loadState(store, slot)).revision);
      }
      await lease?.release();
      await saveNext(store, slot, { append: [userMessage("after")] });
      for (const step of steps) {
        const lost = await store.load(slot, `${revisionSeq(step)}.${"0".repeat(32)}`);
        assert.ok(isWhole(lost) && lost.rolledBack === true, `another history than ${step}`);
        const kept = await store.load(slot, step);
        assert.ok(!isWhole(kept) || kept.rolledBack !== true, `the history of ${step}`);
      }
    },
  );
}

async function begin(store: AgentStateStore, messages: number): Promise<string> {
  return store.save(slot, firstWrite(slot, numberedMessages(messages)));
}

async function changeSince(store: AgentStateStore, known: string): Promise<StateChange> {
  const change = asChange(await store.load(slot, known));
  assert.equal(change.from, known);
  return change;
}

function asChange(answer: LoadAnswer | undefined): StateChange {
  assert.ok(
    typeof answer === "object" && answer !== null && !isWhole(answer),
    "the store must answer with what changed",
  );
  return answer;
}

/** Writers that take turns on one session, each of which loads from the revision it knows. */
class Fleet {
  readonly #store: AgentStateStore;
  readonly #slot: typeof slot;
  readonly #known: (LoadedState | null)[] = [null, null, null];

  constructor(store: AgentStateStore, sessionId: string) {
    this.#store = store;
    this.#slot = { ...slot, sessionId };
  }

  async turn(writer: number, edits: readonly ContextEdit[]): Promise<void> {
    const loaded = await this.#load(writer);
    const state = loaded ? AgentState.fromParts(loaded) : AgentState.create(this.#slot);
    for (const edit of edits) applyEdit(state, edit);
    const head = JSON.parse(JSON.stringify(state.head()));
    const expected = loaded?.revision ?? null;
    const write = { op: uuidv7(), expected, head, ...state.contextDelta() };
    const revision = await this.#store.save(this.#slot, write);
    this.#known[writer] = { revision, head, messages: state.context };
  }

  async #load(writer: number): Promise<LoadedState | null> {
    const known = this.#known[writer] ?? null;
    const answer = await this.#store.load(this.#slot, known?.revision);
    if (answer === null) return null;
    const loaded = answer === "unchanged" || isWhole(answer) ? answer : changed(known, answer);
    const present = loaded === "unchanged" ? known : loaded;
    const whole = await loadState(this.#store, this.#slot);
    assert.equal(present?.revision, whole.revision, "the revision");
    assert.deepStrictEqual(present?.head, whole.head, "the head");
    assertMessages(present?.messages ?? [], whole.messages);
    // Copies: a state freezes the messages it is made of, and the store's own must stay the caller's.
    return structuredClone(whole);
  }
}

function changed(known: LoadedState | null, change: StateChange): LoadedState {
  assert.equal(change.from, known?.revision, "the revision that was named");
  const { revision, head } = change;
  return { revision, head, messages: applyWrite(known?.messages ?? [], change) };
}
