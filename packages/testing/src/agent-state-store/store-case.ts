import type { AgentStateStore, Slot } from "@holdfast/core";
import type {
  CaseBody,
  ConformanceCase,
  ReopenableOptions,
} from "../conformance/conformance-case.js";

/** Options of {@link describeAgentStateStore}. */
export interface AgentStateStoreOptions extends ReopenableOptions<AgentStateStore> {
  /** Parts that the store serves inside `save`; must equal the store's own `fuses`. @default none */
  readonly fuses?: readonly ("gate" | "log")[] | undefined;
  /** The store has an `inbox`; must equal the store's own. @default false */
  readonly inbox?: boolean | undefined;
  /** The store keeps records of calls; must equal its `keepsCallRecords`. @default false */
  readonly callRecords?: boolean | undefined;
  /** A load or a fused lease that names an earlier revision is answered with a `StateChange`. @default false */
  readonly deltaLoads?: boolean | undefined;
  /**
   * The store serves `StateWrite.info` in its listings and returns it with the state; `false` for one that was written before
   * there was any.
   * @default true
   */
  readonly info?: boolean | undefined;
  /** Ends the lease on `slot` as its time limit would, in a store that fuses its gate and has an inbox. */
  endLease?(store: AgentStateStore, slot: Slot): void | Promise<void>;
  /** A store whose sessions expire. When given, the suite also checks that they do, and when. */
  readonly expiring?: ExpiringStoreOptions | undefined;
  /** Damages what is stored for `slot`, as a bad disk would; `load` must then fail with class `CORRUPT`. */
  corrupt?(store: AgentStateStore, slot: Slot): void | Promise<void>;
  /**
   * Takes the backend away, as an outage would. Every method must then fail, and within `timeoutMs`; `close` must still
   * resolve.
   */
  breakBackend?(store: AgentStateStore): void | Promise<void>;
}

/** Making of a store whose sessions expire, and of time that passes for it. */
export interface ExpiringStoreOptions {
  /** A fresh, empty store with this `ttlMs`, and its usual `leaseMs`; cleaned up like every other. */
  create(ttlMs: number): AgentStateStore | Promise<AgentStateStore>;
  /**
   * Makes `ms` pass for what is stored of a slot that no call uses: moves the clock that the store was given, or ages what it
   * stored.
   */
  pass(store: AgentStateStore, slot: Slot, ms: number): void | Promise<void>;
  /** The store's clock is the one that `pass` moves: nothing has to be waited for. @default false */
  readonly hasClock?: boolean | undefined;
}

/** Makes one case about a store. */
export type StoreCase = (title: string, body: CaseBody<AgentStateStore>) => ConformanceCase;
