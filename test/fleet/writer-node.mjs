// Several writers in one process that append to sessions they share with writers elsewhere, with nothing but compare-and-set
// between them. A careless one overwrites what it did not expect, as a store without compare-and-set would.
import { setTimeout } from "node:timers/promises";
import { StateConflictError, userMessage } from "@holdfast/core";
import { retryWrite, saveWithRetry, uuidv7 } from "@holdfast/core/store-kit";
import { openNodeStore } from "../history/node/open-node-store.mjs";

const [choice, options] = process.argv.slice(2).map((text) => JSON.parse(text));
const { first, writers, sessions, appends, isCareless } = options;
const { store, close } = openNodeStore(choice);
let conflicts = 0;

/** As long as saves are: on a busy machine the answer to a load can be late as well. */
const patient = { deadlineMs: 120_000 };
const load = (slot) => retryWrite(slot, () => store.stateStore.load(slot), patient);

/** @param {number} writer */
async function write(writer) {
  const slot = { agentId: "a", userId: "u", sessionId: `s${writer % sessions}` };
  for (let n = 0; n < appends; n++) {
    const message = userMessage(`${writer}:${n}`);
    let known = await load(slot);
    for (;;) {
      const expected = known?.revision ?? null;
      const keep = known?.messages.length ?? 0;
      const save = { op: uuidv7(), expected, head: {}, keep, replace: [], append: [message] };
      try {
        await saveWithRetry(store.stateStore, slot, save, patient);
        break;
      } catch (error) {
        if (!StateConflictError.is(error)) throw error;
        conflicts++;
        const fresh = await load(slot);
        if (isCareless) {
          const append = [...(known?.messages ?? []), message];
          const all = { ...save, op: uuidv7(), expected: fresh.revision, keep: 0, append };
          if (await store.stateStore.save(slot, all).catch(() => null)) break;
        }
        known = isCareless ? known : fresh;
        await setTimeout(Math.random() * 5);
      }
    }
  }
}

await Promise.all(Array.from({ length: writers }, (_, index) => write(first + index)));
console.log(`done ${conflicts}`);
await close();
process.exit(0);
