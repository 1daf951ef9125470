import type { Revision } from "../ports/agent-state-store.js";
import { REMEMBERED_OPS } from "./revision.js";

/** The last saves of a slot and the revision each produced, oldest first. */
export type OpLedger = readonly (readonly [op: string, revision: Revision])[];

/** The revision `op` produced, if it is one of those remembered. */
export function revisionOfOp(ledger: OpLedger, op: string): Revision | undefined {
  return ledger.find(([remembered]) => remembered === op)?.[1];
}

/** The ledger with one more save, cut to the newest {@link REMEMBERED_OPS}. */
export function withOp(ledger: OpLedger, op: string, revision: Revision): OpLedger {
  return [...ledger, [op, revision] as const].slice(-REMEMBERED_OPS);
}
