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
  /** Damages what is stored for `slot`, as a bad disk would; `load` must then fail with class `CORRUPT`. */
  corrupt?(store: AgentStateStore, slot: Slot): void | Promise<void>;
  /**
   * Takes the backend away, as an outage would. Every method must then fail, and within `timeoutMs`; `close` must still
   * resolve.
   */
  breakBackend?(store: AgentStateStore): void | Promise<void>;
}

/** Makes one case about a store. */
export type StoreCase = (title: string, body: CaseBody<AgentStateStore>) => ConformanceCase;
