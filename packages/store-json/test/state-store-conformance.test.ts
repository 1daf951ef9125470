import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentStateStore, Slot } from "@holdfast/core";
import { pathSegment } from "@holdfast/core/store-kit";
import { JsonFileAgentStateStore } from "@holdfast/store-json";
import { describeAgentStateStore, scaled } from "@holdfast/testing";
import { temporaryRoot } from "./temporary-root.js";

/** Clocks of stores whose sessions expire. */
const clocks = new WeakMap<object, { ms: number }>();

// Syncing is all that differs: both are tried when there is time.
for (const durability of scaled(["fsync"], ["fsync", "os"] as const))
  describeAgentStateStore(`JsonFileAgentStateStore, durability ${durability}`, {
    create: () => new JsonFileAgentStateStore({ root: temporaryRoot(), durability }),
    reopen: (store) => new JsonFileAgentStateStore({ root: rootOf(store), durability }),
    cleanup: (store) => rmSync(rootOf(store), { recursive: true, force: true }),
    deltaLoads: true,
    inbox: true,
    callRecords: true,
    expiring: {
      hasClock: true,
      create(ttlMs) {
        const clock = { ms: Date.now() };
        const now = () => new Date(clock.ms);
        const store = new JsonFileAgentStateStore({
          ...{ root: temporaryRoot(), durability, ttlMs, clock: now },
        });
        clocks.set(store, clock);
        return store;
      },
      pass(store, _slot, ms) {
        const clock = clocks.get(store);
        if (clock !== undefined) clock.ms += ms;
      },
    },
    corrupt(store, slot) {
      const file = journalOf(rootOf(store), slot);
      const bytes = readFileSync(file);
      bytes.writeUInt8(bytes.readUInt8(bytes.length >> 1) ^ 1, bytes.length >> 1);
      writeFileSync(file, bytes);
    },
    breakBackend(store) {
      // A file where the root belongs: every path below it fails, also for a superuser whom no permission stops.
      renameSync(rootOf(store), `${rootOf(store)}.gone`);
      writeFileSync(rootOf(store), "");
    },
  });

function rootOf(store: AgentStateStore): string {
  return (store as JsonFileAgentStateStore).root;
}

function journalOf(root: string, slot: Slot): string {
  const directory = join(
    root,
    pathSegment(slot.agentId),
    slot.userId === null ? "anonymous" : `user-${pathSegment(slot.userId)}`,
    pathSegment(slot.sessionId),
  );
  const name = readdirSync(directory).find((each) => each.startsWith("journal."));
  return join(directory, name ?? "journal.1.jsonl");
}
