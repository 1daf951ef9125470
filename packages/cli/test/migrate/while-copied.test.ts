import type { Slot } from "@holdfast/core";
import { eventually } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { addTurn, stateOf } from "./add-turn.js";
import { memoryParts, withLogReads } from "./memory-parts.js";
import { runMigration } from "./run-migration.js";
import { sampleSession, sampleSessions, seed, seedOne } from "./sample-sessions.js";
import { contentsOf } from "./store-contents.js";

const session = sampleSession(10);
const { slot } = session;

/** Latch: resolves when it is opened. */
function door(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

describe("while it is copied", () => {
  test("the target shows no state, and a call there waits until the whole session is there", async () => {
    const [source, target] = [memoryParts(), memoryParts()];
    await seedOne(source, session);
    const reached = door();
    const goOn = door();
    const slow = withLogReads(source, {
      readBlob: async (where: Slot, ref: string) => {
        reached.open();
        await goOn.opened;
        return source.log.readBlob(where, ref);
      },
    });
    const migrating = runMigration(slow, target);
    await reached.opened;
    expect(await target.stateStore.load(slot)).toBeNull();
    expect(await target.gate.calls(slot)).toStrictEqual([expect.stringMatching(/^migrate-/)]);
    let ahead = 0;
    const onWait = (count: number): void => {
      ahead = count;
    };
    const call = target.gate.acquire(slot, { callId: "call", onWait });
    await eventually(() => ahead === 1, { what: "the call waiting" });
    expect(await target.stateStore.load(slot)).toBeNull();
    goOn.open();
    const lease = await call;
    expect(await contentsOf(target, slot)).toStrictEqual(await contentsOf(source, slot));
    await lease.release();
    expect(await migrating).toMatchObject({ outcomes: { copied: 1 } });
  });

  test("a session that a call holds on the target is waited for, and reported when it stays so", async () => {
    const [source, target] = [memoryParts(), memoryParts()];
    await seedOne(source, session);
    const lease = await target.gate.acquire(slot, { callId: "long" });
    expect(await runMigration(source, target)).toMatchObject({ outcomes: { busy: 1, copied: 0 } });
    const waiting = runMigration(source, target, { busyWaitMs: 60_000 });
    await eventually(async () => (await target.gate.calls(slot)).length === 2, {
      what: "the migration waiting",
    });
    await lease.release();
    expect(await waiting).toMatchObject({ outcomes: { busy: 0, copied: 1 } });
  });

  test("what changed meanwhile is copied in further passes, until one finds nothing", async () => {
    const [source, target] = [memoryParts(), memoryParts()];
    await seed(source, sampleSessions(12));
    await seedOne(source, { ...session, slot });
    let turns = 0;
    const report = await runMigration(source, target, {
      passes: 9,
      concurrency: 1,
      onEvent: (event) => {
        // Behind the back of the first three passes.
        if (event.type === "done" && event.pass === turns + 1 && turns < 3)
          void addTurn(source, slot, ++turns);
      },
    });
    expect(report.changingSessions).toBe(0);
    expect(report.passes).toBeGreaterThan(2);
    expect(await contentsOf(target, slot)).toStrictEqual(await contentsOf(source, slot));
  });

  test("a session that never comes to rest is copied as it once was, and listed", async () => {
    const [source, target] = [memoryParts(), memoryParts()];
    await seedOne(source, session);
    let turns = 0;
    const restless = withLogReads(source, {
      read: async (where: Slot, range?: object) => {
        const page = await source.log.read(where, range);
        await addTurn(source, slot, ++turns);
        return page;
      },
    });
    const report = await runMigration(restless, target, { passes: 2 });
    expect(report.changing).toStrictEqual([slot]);
    const copied = await stateOf(target, slot);
    const now = await stateOf(source, slot);
    expect(now.messages.slice(0, copied.messages.length)).toStrictEqual(copied.messages);
    expect(report.outcomes.mismatch).toBe(0);
    // At rest it is brought up to date.
    await runMigration(source, target);
    expect(await contentsOf(target, slot)).toStrictEqual(await contentsOf(source, slot));
  });

  test("a session that is deleted at the source leaves no log behind on the target", async () => {
    const [source, target] = [memoryParts(), memoryParts(false)];
    await seedOne(source, { ...session, records: sampleSession(50).records });
    const vanishing = withLogReads(source, {
      read: async (where: Slot, range: { after?: number } = {}) => {
        if ((range.after ?? 0) > 200) {
          await source.stateStore.delete(where);
          await source.log.delete(where);
        }
        return source.log.read(where, range);
      },
    });
    expect(await runMigration(vanishing, target)).toMatchObject({ outcomes: { gone: 1 } });
    expect(await target.stateStore.load(slot)).toBeNull();
    expect(await target.log.read(slot)).toStrictEqual([]);
  });
});
