import assert from "node:assert/strict";
import { AgentState, StoreError, userMessage } from "@holdfast/core";
import { type StateWrite, uuidv7 } from "@holdfast/core/store-kit";
import fc from "fast-check";
import { rejectionOf } from "../conformance/assert-rejects.js";
import type { ConformanceCase } from "../conformance/conformance-case.js";
import { numberedMessages } from "../conformance/sample-messages.js";
import { sampleSlot } from "../conformance/sample-slots.js";
import { scaled } from "../conformance/scaled.js";
import { applyEdit, contextEdits } from "./context-edits.js";
import { assertStored, firstWrite, loadState, nextWrite } from "./state-writes.js";
import type { StoreCase } from "./store-case.js";

/** Saves that carry only what changed. */
export function deltaCases(check: StoreCase): ConformanceCase[] {
  return [
    check(
      "whatever was edited, after each save the store holds exactly the state",
      async (store) => {
        let run = 0;
        const property = fc.asyncProperty(contextEdits(), async (saves) => {
          const slot = { ...sampleSlot, sessionId: `run-${run++}` };
          const state = AgentState.create(slot);
          let expected: string | null = null;
          for (const edits of saves) {
            for (const edit of edits) applyEdit(state, edit);
            const head = JSON.parse(JSON.stringify(state.head()));
            const write: StateWrite = { op: uuidv7(), expected, head, ...state.contextDelta() };
            const revision: string = await store.save(slot, write);
            state.markSaved();
            await assertStored(store, slot, { revision, head, messages: state.context });
            expected = revision;
          }
        });
        await fc.assert(property, { numRuns: scaled(20, 1_000) });
      },
    ),
    check("a loaded state goes on saving deltas", async (store) => {
      const slot = sampleSlot;
      await store.save(slot, firstWrite(slot, numberedMessages(10)));
      const loaded = await loadState(store, slot);
      const state = AgentState.fromParts(loaded);
      state.summary = "what was said before";
      state.contextMutable().splice(1, 6);
      state.contextMutable().replace(2, userMessage("replaced"));
      state.contextMutable().push(userMessage("pushed"));
      const write = nextWrite(loaded, [], { head: state.head(), ...state.contextDelta() });
      const revision = await store.save(slot, write);
      const head = JSON.parse(JSON.stringify(state.head()));
      await assertStored(store, slot, { revision, head, messages: state.context });
    }),
    check(
      "a save that does not fit what is stored is refused and damages nothing",
      async (store) => {
        const slot = sampleSlot;
        const message = userMessage("x");
        const none = firstWrite(slot, [message], { keep: 1 });
        assertStoreError(
          await rejectionOf(() => store.save(slot, none), "keeping what is not there"),
        );
        assert.equal(await store.load(slot), null);

        await store.save(slot, firstWrite(slot, numberedMessages(3)));
        const stored = await loadState(store, slot);
        const misfits: Partial<StateWrite>[] = [
          { keep: 4 },
          { keep: 5_000_000 },
          { keep: -1 },
          { keep: 1.5 },
          { keep: Number.NaN },
          { keep: 2, replace: [[2, message]] },
          { keep: 2, replace: [[-1, message]] },
          { keep: 2, replace: [[0.5, message]] },
        ];
        for (const misfit of misfits) {
          const write = nextWrite(stored, [message], misfit);
          const what = `a save with ${JSON.stringify({ ...misfit, replace: misfit.replace?.[0]?.[0] })} must be refused`;
          assertStoreError(await rejectionOf(() => store.save(slot, write), what));
          await assertStored(store, slot, stored);
        }
      },
    ),
  ];
}

function assertStoreError(error: unknown): void {
  assert.ok(StoreError.is(error), `expected a StoreError, got ${String(error)}`);
}
