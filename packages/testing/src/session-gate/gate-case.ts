import type { SessionGate } from "@holdfast/core";
import type {
  CaseBody,
  ConformanceCase,
  ReopenableOptions,
} from "../conformance/conformance-case.js";

/** What {@link describeSessionGate} needs to know about a gate. */
export interface SessionGateOptions extends ReopenableOptions<SessionGate> {
  /**
   * Ends a gate as `kill -9` of its process would: it holds leases and never speaks again. Together with `reopen` the
   * suite then checks that its leases end by themselves; make them short (`leaseMs`) to keep the test quick.
   */
  killHolder?(gate: SessionGate): void | Promise<void>;
}

/** Makes one case about a gate. */
export type GateCase = (title: string, body: CaseBody<SessionGate>) => ConformanceCase;

/** Lets everything else that is ready run, a few times. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate);
}
