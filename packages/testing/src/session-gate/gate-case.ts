import type { SessionGate } from "@holdfast/core";
import type {
  CaseBody,
  ConformanceCase,
  ReopenableOptions,
} from "../conformance/conformance-case.js";

/** Options of {@link describeSessionGate}. */
export interface SessionGateOptions extends ReopenableOptions<SessionGate> {
  /**
   * Ends a gate as `kill -9` of its process would: it keeps its leases and never renews them. Together with `reopen` the
   * suite then checks that its leases end by themselves; make them short (`leaseMs`) to keep the test quick.
   */
  killHolder?(gate: SessionGate): void | Promise<void>;
  /**
   * Stalls a gate as `SIGSTOP` of its process would: it renews nothing until the function returned is called. Together with
   * `reopen` the suite then checks that it learns of the leases it lost; make them short (`leaseMs`) to keep the test quick.
   */
  stallHolder?(gate: SessionGate): (() => void) | Promise<() => void>;
}

/** Makes one case about a gate. */
export type GateCase = (title: string, body: CaseBody<SessionGate>) => ConformanceCase;

/** Yields to the event loop `count` times. */
export async function yieldToOthers(count: number): Promise<void> {
  for (let done = 0; done < count; done++) await new Promise(setImmediate);
}
