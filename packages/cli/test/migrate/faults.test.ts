import { mkdir, readdir, rename, rm } from "node:fs/promises";
import {
  type DistributedStore,
  LeaseLostError,
  type SessionGate,
  type Slot,
  StateCorruptError,
  StateTooLargeError,
  StoreUnavailableError,
} from "@holdfast/core";
import type { Lease } from "@holdfast/core/store-kit";
import { JsonFileAgentStateStore } from "@holdfast/store-json";
import { eventually, tempDirectory } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { addTurn } from "./add-turn.js";
import { memoryParts, withLogReads, withStates } from "./memory-parts.js";
import { migrate } from "./migrate-process.js";
import { runMigration } from "./run-migration.js";
import {
  recordOf,
  sampleMessage,
  sampleSession,
  sampleSessions,
  seed,
  seedOne,
} from "./sample-sessions.js";
import { contentsOf } from "./store-contents.js";

const session = sampleSession(10);
const { slot } = session;
/** Its log is longer than an append. */
const long = { ...session, records: sampleSession(50).records };

/** Its ids are plain, and it has no user. */
const plain = sampleSession(5);

function files(root: string) {
  return new JsonFileAgentStateStore({ root, durability: "os" }).companions();
}

function isSlot(where: Slot): boolean {
  return where.sessionId === slot.sessionId;
}

/** The source of {@link long}, where something happens once its log was read to the end, before anybody looks again. */
function afterLog(source: DistributedStore, happen: () => Promise<void>): DistributedStore {
  return withLogReads(source, {
    read: async (where, range = {}) => {
      const page = await source.log.read(where, range);
      if ((range.after ?? 0) > 500) await happen();
      return page;
    },
  });
}

/** A gate whose leases are looked at, or changed. */
function withLeases(gate: SessionGate, change: (lease: Lease) => Lease): SessionGate {
  return {
    contract: 1,
    kind: gate.kind,
    reach: gate.reach,
    acquire: async (where, request) => change(await gate.acquire(where, request)),
    calls: (where) => gate.calls(where),
  };
}

describe("when things go wrong", () => {
  test("an append that failed is not made again when the lease was lost meanwhile", async () => {
    const [source, target] = [memoryParts(), memoryParts(false)];
    await seedOne(source, long);
    const lost = new AbortController();
    const gate = withLeases(target.gate, (lease) => ({
      token: lease.token,
      lost: lost.signal,
      validUntil: lease.validUntil,
      release: () => lease.release(),
    }));
    let appends = 0;
    const { log } = withLogReads(target, {
      append: async () => {
        appends++;
        lost.abort(new LeaseLostError("lost"));
        throw new StoreUnavailableError("down");
      },
    });
    await runMigration(source, { ...target, log, gate }, { signal: AbortSignal.timeout(50) });
    expect(appends).toBe(1);
  });

  test("a lease that was lost unnoticed takes nothing of the next holder's away", async () => {
    const [source, target] = [memoryParts(), memoryParts(false)];
    await seedOne(source, long);
    const leases: Lease[] = [];
    const gate = withLeases(target.gate, (lease) => {
      leases.push(lease);
      return lease;
    });
    const own = recordOf(9_000, 1, sampleMessage(9_000, 1));
    const vanishing = afterLog(source, async () => {
      await leases[0]?.release();
      await target.log.append(slot, [own]);
      await source.stateStore.delete(slot);
      await source.log.delete(slot);
    });
    expect(await runMigration(vanishing, { ...target, gate })).toMatchObject({
      outcomes: { gone: 1 },
    });
    expect((await target.log.read(slot)).at(-1)).toMatchObject({ id: own.id });
  });

  test("a session that cannot be saved on the target leaves no log behind, and the others arrive", async () => {
    const source = memoryParts();
    for (const fused of [true, false]) {
      const target = memoryParts(fused);
      await seed(source, [...sampleSessions(5), long]);
      const small = withStates(target, {
        save: (where, write) => {
          if (isSlot(where)) throw new StateTooLargeError("too large");
          return target.stateStore.save(where, write);
        },
      });
      expect(await runMigration(source, small)).toMatchObject({
        outcomes: { copied: 5, failed: 1 },
      });
      expect(await target.log.read(slot)).toStrictEqual([]);
    }
  });

  test("a store that is out of reach ends the run", async () => {
    const [source, target] = [memoryParts(), memoryParts()];
    await seed(source, sampleSessions(20));
    let reads = 0;
    const down = withStates(source, {
      load: (where, known) => {
        if (++reads > 10) throw new StoreUnavailableError("down");
        return source.stateStore.load(where, known);
      },
    });
    await expect(runMigration(down, target)).rejects.toSatisfy(StoreUnavailableError.is);
  });

  test("a listing that fails once is asked for again", async () => {
    const [source, target] = [memoryParts(), memoryParts()];
    await seed(source, sampleSessions(5));
    let lists = 0;
    const shaky = withStates(source, {
      list: (query) => {
        if (++lists % 2 === 1) throw new StoreUnavailableError("blip");
        return source.stateStore.list(query);
      },
    });
    expect(await runMigration(shaky, target)).toMatchObject({ outcomes: { copied: 5 } });
  });

  test("a session that becomes unreadable after it was copied does not end the run", async () => {
    const [source, target] = [memoryParts(), memoryParts()];
    await seed(source, [...sampleSessions(5), session]);
    let isPast = false;
    const rotting = withStates(source, {
      load: (where, known) => {
        if (isPast && isSlot(where)) throw new StateCorruptError("rotten");
        return source.stateStore.load(where, known);
      },
    });
    const report = await runMigration(rotting, target, {
      onEvent: (event) => {
        isPast ||= event.type === "done" && event.done === 6;
      },
    });
    expect(report).toMatchObject({ outcomes: { copied: 6, failed: 1 } });
  });

  test("a stop does not wait for sessions that are in use", async () => {
    const [source, target] = [memoryParts(), memoryParts()];
    await seedOne(source, session);
    const lease = await target.gate.acquire(slot, { callId: "long" });
    const stop = new AbortController();
    const waiting = runMigration(source, target, { busyWaitMs: 600_000, signal: stop.signal });
    await eventually(async () => (await target.gate.calls(slot)).length === 2, {
      what: "the migration waiting",
    });
    stop.abort();
    expect(await waiting).toMatchObject({ isInterrupted: true });
    expect(await target.gate.calls(slot)).toStrictEqual(["long"]);
    await lease.release();
  });

  test("a source that was set back does not pass for one the target went on with", async () => {
    const [source, backup, target] = [memoryParts(), memoryParts(), memoryParts()];
    await seedOne(source, session);
    await runMigration(source, backup);
    await runMigration(source, target);
    await addTurn(source, slot, 1);
    await runMigration(source, target);
    const before = await contentsOf(target, slot);
    const report = await runMigration(backup, target);
    expect(report).toMatchObject({ outcomes: { conflict: 1, ahead: 0 } });
    expect(await contentsOf(target, slot)).toStrictEqual(before);
  });

  test("a session can be copied again however often it was deleted on the target", async () => {
    await using directory = await tempDirectory();
    const [source, target] = [memoryParts(), files(directory.path)];
    await seedOne(source, session);
    for (let round = 0; round < 7; round++) {
      expect(await runMigration(source, target, { passes: 1 })).toMatchObject({
        outcomes: { copied: 1 },
      });
      await target.stateStore.delete(slot);
    }
  });

  test("a session that files do not list is not passed over in silence", async () => {
    await using directory = await tempDirectory();
    const [from, to] = [`${directory.path}/from`, `${directory.path}/to`];
    await seed(files(from), [...sampleSessions(3), plain]);
    const names = await readdir(from, { recursive: true });
    const folder = names.find((name) => name.endsWith(plain.slot.sessionId));
    await rename(`${from}/${folder}`, `${from}/${folder}-moved`);
    const run = await migrate(`json:${from}`, `json:${to}`, "--anonymous");
    expect(run).toMatchObject({ code: 1, stderr: expect.stringContaining("skipped a session") });
    expect(run.stderr.trim().split("\n")).toHaveLength(1);
  });

  test("a log that cannot be read is that of a session that failed", async () => {
    await using directory = await tempDirectory();
    const [source, target] = [files(directory.path), memoryParts()];
    await seed(source, [...sampleSessions(3), plain]);
    const names = await readdir(`${directory.path}/@log`, { recursive: true });
    const log = names.find((name) => name.endsWith(`${plain.slot.sessionId}.log.jsonl`));
    await rm(`${directory.path}/@log/${log}`);
    await mkdir(`${directory.path}/@log/${log}`);
    expect(await runMigration(source, target, { passes: 1 })).toMatchObject({
      outcomes: { copied: 3, failed: 1 },
    });
  });
});
