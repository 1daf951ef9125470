import assert from "node:assert/strict";
import type { AgentStateStore, DistributedStore } from "@holdfast/core";
import type { DocumentClient } from "@holdfast/core/store-kit";
import { agentStateStoreCases } from "../agent-state-store/describe-agent-state-store.js";
import type { AgentStateStoreOptions } from "../agent-state-store/store-case.js";
import {
  type ConformanceCase,
  caseFactory,
  registerCases,
  type SubjectOptions,
} from "../conformance/conformance-case.js";
import { conversationLogCases } from "../conversation-log/describe-conversation-log.js";
import { keyValueStoreCases } from "../key-value-store/describe-key-value-store.js";
import { sessionGateCases } from "../session-gate/describe-session-gate.js";
import { signalBusCases } from "../signal-bus/describe-signal-bus.js";
import { documentClientCases } from "./document-client-cases.js";
import { type ProcessOptions, processCases } from "./process-cases.js";

/** Options of {@link describeDistributedStore}: those of the state store's suite, and how its processes fail. */
export interface DistributedStoreOptions extends AgentStateStoreOptions {
  /** Client of a store that `documentStore` made. When given, the contract of its four commands is checked first. */
  client?(store: AgentStateStore): DocumentClient;
  /** A second instance over the same data, opened as another process would. */
  reopen(store: AgentStateStore): AgentStateStore | Promise<AgentStateStore>;
  /** Ends a store as `kill -9` of its process would: it keeps its leases and never renews them. */
  killHolder?(store: AgentStateStore): void | Promise<void>;
  /** Stalls a store as `SIGSTOP` of its process would: it renews nothing until the function returned is called. */
  stallHolder?(store: AgentStateStore): (() => void) | Promise<() => void>;
  /** A fresh, empty store whose log has no time to search; closed like every other. */
  createLimited?(): AgentStateStore | Promise<AgentStateStore>;
  /** Module by which processes of their own open the store, to be killed and stopped. */
  readonly processes?: ProcessOptions | undefined;
}

/** Cases about one part of a store. */
export interface ConformanceSuite {
  readonly title: string;
  readonly cases: readonly ConformanceCase[];
}

/**
 * Registers every test for a store whose `companions()` serve many nodes: the suites of its five parts, and those of processes
 * that are killed and stopped.
 *
 * @example
 * describeDistributedStore("sqlite", {
 *   create: () => openStore(join(directory, randomUUID())),
 *   reopen: (store) => openStore(locationOf(store)),
 *   processes: { module: new URL("./open-store.mjs", import.meta.url), location: () => join(directory, randomUUID()) },
 * });
 */
export function describeDistributedStore(name: string, options: DistributedStoreOptions): void {
  for (const { title, cases } of distributedStoreCases(options))
    registerCases(`${name} ${title}`, cases, options);
}

/** The cases of {@link describeDistributedStore}, for other runners. */
export function distributedStoreCases(options: DistributedStoreOptions): ConformanceSuite[] {
  const { client, killHolder, stallHolder, breakBackend, createLimited, processes } = options;
  const parts = new PartsOf(options);
  const log = parts.options("log");
  const gate = parts.options("gate");
  const limited = createLimited && (async () => parts.of(await createLimited(), "log"));
  return [
    ...(client
      ? [{ title: "as a DocumentClient", cases: documentClientCases(options, client) }]
      : []),
    { title: "as a store for many nodes", cases: bundleCases(options) },
    { title: "as an AgentStateStore", cases: agentStateStoreCases(options) },
    {
      title: "as a SessionGate",
      cases: sessionGateCases({
        ...gate,
        ...(killHolder && { killHolder: (part) => killHolder(parts.storeOf(part)) }),
        ...(stallHolder && { stallHolder: (part) => stallHolder(parts.storeOf(part)) }),
      }),
    },
    {
      title: "as a ConversationLog",
      cases: conversationLogCases({
        ...log,
        ...(breakBackend && { breakBackend: (part) => breakBackend(parts.storeOf(part)) }),
        ...(limited && { createLimited: limited }),
      }),
    },
    {
      title: "as a KeyValueStore",
      cases: keyValueStoreCases({
        ...parts.options("keyValue"),
        ...(breakBackend && { breakBackend: (part) => breakBackend(parts.storeOf(part)) }),
      }),
    },
    { title: "as a SignalBus", cases: signalBusCases(parts.options("signals")) },
    ...(processes ? [{ title: "in processes that fail", cases: processCases(processes) }] : []),
  ];
}

function bundleCases(options: DistributedStoreOptions): ConformanceCase[] {
  const check = caseFactory(options, (store) => store.close());
  return [
    check("it has companions that reach as far as itself, the same every time", async (store) => {
      const parts = store.companions?.();
      assert.ok(parts, "the store has companions()");
      assert.equal(parts.stateStore, store);
      for (const part of Object.values<{ reach: string } | undefined>({ ...parts }))
        if (part) assert.equal(part.reach, store.reach);
      assert.equal(store.companions?.().gate, parts.gate);
      assert.equal(store.companions?.().log, parts.log);
    }),
  ];
}

type Part = Exclude<keyof DistributedStore, "stateStore" | "eventFeed">;

/** Makes parts of stores, and remembers to which store each belongs. */
class PartsOf {
  readonly #options: DistributedStoreOptions;
  readonly #stores = new WeakMap<object, AgentStateStore>();

  constructor(options: DistributedStoreOptions) {
    this.#options = options;
  }

  storeOf(part: object): AgentStateStore {
    const store = this.#stores.get(part);
    assert.ok(store, "a part of a store that the suite made");
    return store;
  }

  of<P extends Part>(store: AgentStateStore, name: P): DistributedStore[P] {
    const parts = store.companions?.();
    assert.ok(parts, "the store has companions()");
    this.#stores.set(parts[name], store);
    return parts[name];
  }

  /** Options of the suite of one part. */
  options<P extends Part>(
    name: P,
  ): SubjectOptions<DistributedStore[P]> & {
    reopen(part: DistributedStore[P]): Promise<DistributedStore[P]>;
  } {
    const { create, reopen, cleanup, timeoutMs } = this.#options;
    return {
      create: async () => this.of(await create(), name),
      reopen: async (part) => this.of(await reopen(this.storeOf(part)), name),
      cleanup: async (part) => {
        const store = this.storeOf(part);
        await store.close();
        await cleanup?.(store);
      },
      timeoutMs,
    };
  }
}
