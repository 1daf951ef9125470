import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "@holdfast/testing";
import type { History, Violation } from "./checks/check.js";
import { checks } from "./checks/index.js";
import { Client, type Sessions } from "./client.js";
import { ClientRecord } from "./client-record.js";
import { causeFaults, type FaultTarget, faultsOf, nodeFaults } from "./faults/index.js";
import { Fleet } from "./fleet.js";
import { openNodeStore } from "./node/open-node-store.mjs";
import type { DoneOperation } from "./operation.js";
import { SeededRandom } from "./seeded-random.js";
import { readSession } from "./session-record.js";
import { settleSessions } from "./settle-sessions.js";
import { openRig, type StoreKind, type StoreRig } from "./store-rig.js";
import { now, Trace } from "./trace.js";

/** Settings of one history. */
export interface HistoryOptions {
  readonly kind: StoreKind;
  /** Decides the schedule of operations and faults. */
  readonly seed: string;
  /** Directory for the traces. */
  readonly directory: string;
  readonly durationMs: number;
  readonly nodes: number;
  readonly clients: number;
  readonly sessions: number;
  readonly leaseMs: number;
}

/** Result of one history. */
export interface HistoryReport {
  readonly kind: StoreKind;
  readonly seed: string;
  /** Operations by kind. */
  readonly operations: ReadonlyMap<string, number>;
  /** Outcomes of operations: reasons of replies and codes of errors. */
  readonly outcomes: ReadonlyMap<string, number>;
  readonly faults: ReadonlyMap<string, number>;
  readonly violations: readonly Violation[];
}

/**
 * Runs one history: clients call nodes by a seeded schedule while faults happen by another. Then everything is healed, every
 * session is called once more, and what callers were told is compared with what is stored.
 */
export async function runHistory(options: HistoryOptions): Promise<HistoryReport> {
  const { kind, nodes, leaseMs, directory } = options;
  mkdirSync(directory, { recursive: true });
  const rig = await openRig(kind, nodes, leaseMs);
  try {
    const fleet = new Fleet({ nodes, rig, directory });
    try {
      return await play(options, rig, fleet);
    } finally {
      await fleet.close();
    }
  } finally {
    await rig.close();
  }
}

async function play(options: HistoryOptions, rig: StoreRig, fleet: Fleet): Promise<HistoryReport> {
  const { kind, seed, directory } = options;
  const sessions = sessionsOf(options);
  const record = new ClientRecord(fleet, join(directory, "clients.jsonl"));
  await warmUp(fleet, record);
  const { faults, outages } = await underFaults(options, rig, fleet, record);
  const unusable = await settleSessions(record, sessions.all);
  const trace = Trace.read(directory);
  const history: History = {
    trace,
    done: record.done,
    hanging: record.hanging,
    crashes: fleet.crashes,
    compacted: new Set(sessions.compacted),
    outages,
    sessions: await readSessions(rig, sessions.all, trace),
  };
  const violations = [...unusable, ...checks.flatMap((check) => check(history))];
  writeFileSync(join(directory, "violations.json"), JSON.stringify(violations, null, 1));
  writeFileSync(join(directory, "sessions.json"), JSON.stringify(history.sessions, null, 1));
  return {
    kind,
    seed,
    operations: tally(record.done.map(({ operation }) => operation.kind)),
    outcomes: tally(record.done.map(outcomeOf)),
    faults,
    violations,
  };
}

/** Waits until every node has its connections and tables, before the first fault. */
async function warmUp(fleet: Fleet, record: ClientRecord): Promise<void> {
  await fleet.ready();
  for (let node = 0; node < fleet.size; node++)
    await eventually(
      async () => {
        const share = node / fleet.size;
        const told = await record.make(share, { kind: "update", session: "ready", note: "" });
        return told.error === undefined;
      },
      { timeoutMs: 60_000, what: "a node's first update" },
    );
}

/** Lets clients work while faults happen; resolves when both are over and all nodes are up. */
async function underFaults(
  options: HistoryOptions,
  rig: StoreRig,
  fleet: Fleet,
  record: ClientRecord,
): Promise<Pick<History, "outages"> & Pick<HistoryReport, "faults">> {
  const { kind, seed, clients, leaseMs } = options;
  const sessions = sessionsOf(options);
  const deadline = performance.now() + options.durationMs;
  const isOver = () => performance.now() > deadline;
  const working = Array.from({ length: clients }, (_, client) =>
    new Client(new SeededRandom(`${seed} client ${client}`), sessions, record).run(isOver),
  );
  const outages: { readonly start: number; end: number }[] = [];
  const failing = faultsOf(kind).map((faults, index) => {
    const random = new SeededRandom(`${seed} faults ${index}`);
    const target: FaultTarget = { fleet, rig, random, leaseMs };
    return causeFaults(faults, target, isOver, (keepsNodesFromSaving) => {
      if (!keepsNodesFromSaving) return () => undefined;
      const outage = { start: now(), end: Number.POSITIVE_INFINITY };
      outages.push(outage);
      // What a fault of network or server leaves behind, such as a slow reconnect, takes a moment more.
      const tailMs = faults === nodeFaults ? 0 : leaseMs;
      return () => {
        outage.end = now() + tailMs;
      };
    });
  });
  const [counts] = await Promise.all([Promise.all(failing), ...working]);
  await fleet.ready();
  return { outages, faults: merged(counts) };
}

/** The last but one session is compacted, the last one deleted. */
function sessionsOf({ sessions }: HistoryOptions): Sessions {
  const all = Array.from({ length: sessions }, (_, index) => `s${index}`);
  return { all, compacted: all.slice(-2, -1), deleted: all.slice(-1) };
}

async function readSessions(rig: StoreRig, sessions: readonly string[], trace: Trace) {
  const { store, close } = openNodeStore(rig.direct);
  try {
    return await Promise.all(
      sessions.map((sessionId) =>
        readSession(store, { agentId: "history", userId: "u", sessionId }, trace),
      ),
    );
  } finally {
    await close();
  }
}

function outcomeOf({ operation, told }: DoneOperation): string {
  const { reply, error, interrupted, lost } = told;
  if (lost === true) return "node ended";
  if (error !== undefined) return error.code;
  if (operation.kind === "interrupt") return `interrupt: ${interrupted}`;
  if (operation.kind === "resume" && reply === null) return "nothing to resume";
  return reply?.reason ?? "done";
}

function tally(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/** Adds up counts by name. */
export function merged(all: readonly ReadonlyMap<string, number>[]): Map<string, number> {
  const sum = new Map<string, number>();
  for (const counts of all)
    for (const [name, count] of counts) sum.set(name, (sum.get(name) ?? 0) + count);
  return sum;
}
