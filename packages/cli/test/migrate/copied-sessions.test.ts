import type { DistributedStore } from "@holdfast/core";
import { nextRevision } from "@holdfast/core/store-kit";
import { withEncryption } from "@holdfast/encryption";
import { describe, expect, test } from "vitest";
import { addTurn, stateOf } from "./add-turn.js";
import { memoryParts } from "./memory-parts.js";
import { runMigration } from "./run-migration.js";
import { sampleSession, sampleSessions, seed, seedOne } from "./sample-sessions.js";
import { contentsOf, contentsOfAll } from "./store-contents.js";

const session = sampleSession(10);
const { slot } = session;

describe("what is copied", () => {
  test("every session arrives with its revision, its log and its long texts", async () => {
    const [source, target] = [memoryParts(), memoryParts()];
    const sessions = sampleSessions(60);
    await seed(source, sessions);
    const report = await runMigration(source, target);
    expect(report.outcomes).toMatchObject({ copied: 60, conflict: 0, mismatch: 0, failed: 0 });
    expect(report.verified.sessions).toBe(60);
    expect(await contentsOfAll(target, sessions)).toStrictEqual(
      await contentsOfAll(source, sessions),
    );
  });

  test("a session that has a log and no state arrives too, when its user was met", async () => {
    const [source, target] = [memoryParts(), memoryParts()];
    await seedOne(source, { ...session, slot: { ...slot, userId: "ada" } });
    const crashed = { ...slot, userId: "ada", sessionId: "crashed" };
    await source.log.append(crashed, session.records);
    const report = await runMigration(source, target);
    expect(report.outcomes.copied).toBe(2);
    expect(await contentsOf(target, crashed)).toStrictEqual(await contentsOf(source, crashed));
    expect(await runMigration(source, target)).toMatchObject({
      outcomes: { present: 2, copied: 0 },
    });
  });

  test("only the sessions of the agent and user that were asked for are touched", async () => {
    const [source, target] = [memoryParts(), memoryParts()];
    await seed(source, sampleSessions(40));
    const filter = { agentId: "agent-1", userId: null };
    const { outcomes } = await runMigration(source, target, { filter });
    const there = await target.stateStore.list({ limit: 100 });
    expect(there.slots.length).toBe(outcomes.copied);
    expect(outcomes.copied).toBeGreaterThan(0);
    for (const info of there.slots)
      expect(info.slot).toMatchObject({ agentId: "agent-1", userId: null });
  });

  test("the target lists the sessions in the order of the source", async () => {
    const [source, target] = [memoryParts(), memoryParts()];
    for (const each of sampleSessions(12)) await seedOne(source, each);
    await runMigration(source, target, { concurrency: 1 });
    const names = async ({ stateStore }: DistributedStore) =>
      (await stateStore.list()).slots.map((info) => info.slot.sessionId);
    expect(await names(target)).toStrictEqual(await names(source));
  });

  test("a sealed session can be opened on the target: its seal is bound to its revision", async () => {
    const [source, target] = [memoryParts(), memoryParts()];
    const keys = [{ id: "k1", key: Buffer.alloc(32, 7) }];
    const sealed = withEncryption(source, { keys });
    await seedOne(sealed, session);
    await addTurn(sealed, slot, 1);
    expect(await runMigration(source, target)).toMatchObject({ outcomes: { copied: 1 } });
    const opened = withEncryption(target, { keys });
    expect(await contentsOf(opened, slot)).toStrictEqual(await contentsOf(sealed, slot));
  });

  test("the next save of a copy goes on from the number of the source", async () => {
    const [source, target] = [memoryParts(), memoryParts()];
    await seedOne(source, { ...session, saves: 3 });
    await runMigration(source, target);
    await addTurn(target, slot, 1);
    const state = await stateOf(target, slot);
    expect(Number.parseInt(state.revision, 10)).toBe(4);
    expect(nextRevision(state.revision)).toMatch(/^5\./);
  });
});
