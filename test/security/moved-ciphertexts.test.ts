import { StateCorruptError, userMessage } from "@holdfast/core";
import type { LoadedState } from "@holdfast/core/store-kit";
import { withEncryption } from "@holdfast/encryption";
import { scaled } from "@holdfast/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { freshOptions } from "../encryption/keys.js";
import { loadState, said, slotOf, storedDrafts, tamper, writeOn } from "../encryption/stored.js";
import { report, samples, slow } from "./corpus.js";
import { placeOf, sharedStores } from "./every-place.js";

const slots = Array.from({ length: 6 }, (_, index) => ({
  ...slotOf(`s${index % 3}`),
  userId: `u${index % 2}`,
}));

/** Parts of a sealed state that go to another session, or to another revision of their own. */
const parts = ["head", "head and revision", "messages", "one message", "everything"] as const;
const move = fc.record({
  from: fc.nat({ max: slots.length * 3 - 1 }),
  to: fc.nat({ max: slots.length - 1 }),
  part: fc.constantFrom(...parts),
  index: fc.nat({ max: 2 }),
});

/** What an attacker makes of a session with the sealed parts of another. */
function moved(
  victim: LoadedState,
  donor: LoadedState,
  part: (typeof parts)[number],
  index: number,
): Partial<LoadedState> {
  const { head, messages, revision } = donor;
  if (part === "head") return { head };
  if (part === "head and revision") return { head, revision };
  if (part === "messages") return { messages };
  if (part === "everything") return { head, messages, revision };
  const message = messages[index];
  return { messages: message ? victim.messages.with(index, message) : messages };
}

test.for(sharedStores)(
  "%s: a sealed state, log record or value opens in its own place only",
  slow,
  async (kind, context) => {
    const place = await placeOf(kind);
    const inner = place.open();
    const sealed = withEncryption(inner, freshOptions());
    /** Every revision of every session, as it was stored. */
    const stored: { slot: (typeof slots)[number]; state: LoadedState }[] = [];
    const newest = new Map<string, { open: LoadedState; stored: LoadedState }>();
    for (const [number, slot] of slots.entries()) {
      let state: LoadedState | null = null;
      for (let round = 0; round < 3; round++) {
        const messages = round === 0 ? [0, 1, 2].map((n) => userMessage(`${number}.${n}`)) : [];
        const replace = round === 0 ? [] : ([[1, userMessage(`${number} ${round}`)]] as const);
        const write = writeOn(state, messages, { head: { number, round }, replace });
        await sealed.stateStore.save(slot, write);
        state = await loadState(sealed.stateStore, slot);
        const behind = await loadState(inner.stateStore, slot);
        stored.push({ slot, state: behind });
        newest.set(JSON.stringify(slot), { open: state, stored: behind });
      }
      await sealed.log.append(slot, [said(`log ${number}`, { id: "r" })]);
      await sealed.keyValue.put(["n"], `k${number}`, { number });
    }

    let corrupt = 0;
    for (const { from, to, part, index } of samples(move, scaled(100, 2_000))) {
      const [slot, donor] = [slots[to] ?? slotOf(), stored[from]];
      const own = newest.get(JSON.stringify(slot));
      if (donor === undefined || own === undefined) throw new Error("no such session");
      const change = moved(own.stored, donor.state, part, index);
      const isSame = JSON.stringify({ ...own.stored, ...change }) === JSON.stringify(own.stored);
      await tamper(inner.stateStore, slot, () => ({ ...own.stored, ...change }));
      const outcome = await sealed.stateStore.load(slot).catch((error: unknown) => error);
      if (StateCorruptError.is(outcome)) corrupt++;
      // What stood in the same place of the same session once, with the revision of its head, is not told from the present.
      else {
        expect(donor.slot).toBe(slot);
        expect(part !== "head" || isSame).toBe(true);
      }
      await tamper(inner.stateStore, slot, () => own.stored);
      const { head, messages } = await loadState(sealed.stateStore, slot);
      expect({ head, messages }).toEqual({ head: own.open.head, messages: own.open.messages });
    }
    expect(corrupt).toBeGreaterThan(scaled(50, 1_000));

    let records = 0;
    for (const from of slots)
      for (const [number, to] of slots.entries()) {
        if (from === to) continue;
        const target = { ...to, sessionId: `${to.sessionId}-${number}-${slots.indexOf(from)}` };
        await inner.log.append(target, await storedDrafts(inner.log, from));
        await expect(sealed.log.read(target)).rejects.toSatisfy(StateCorruptError.is);
        const value = await inner.keyValue.get(["n"], `k${slots.indexOf(from)}`);
        await inner.keyValue.put(["m"], `k${number}`, value?.value ?? null);
        await expect(sealed.keyValue.get(["m"], `k${number}`)).rejects.toSatisfy(
          StateCorruptError.is,
        );
        records += 2;
      }
    report(context, {
      "parts of states moved": scaled(100, 2_000),
      "of them corrupt": corrupt,
      "records and values moved, all corrupt": records,
    });
  },
);
