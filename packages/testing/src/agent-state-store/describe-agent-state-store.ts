import assert from "node:assert/strict";
import {
  type ConformanceCase,
  caseFactory,
  registerCases,
} from "../conformance/conformance-case.js";
import { callRecordCases } from "./call-record-cases.js";
import { changeCases } from "./change-cases.js";
import { conflictCases } from "./conflict-cases.js";
import { deleteCases } from "./delete-cases.js";
import { deltaCases } from "./delta-cases.js";
import { expiryCases } from "./expiry-cases.js";
import { failureCases } from "./failure-cases.js";
import { fusedGateCases } from "./fused-gate-cases.js";
import { fusedInboxCases } from "./fused-inbox-cases.js";
import { fusedLogCases } from "./fused-log-cases.js";
import { idCases } from "./id-cases.js";
import { inboxCases } from "./inbox-cases.js";
import { infoCases } from "./info-cases.js";
import { listCases } from "./list-cases.js";
import { opCases } from "./op-cases.js";
import { reopenCases } from "./reopen-cases.js";
import { roundTripCases } from "./round-trip-cases.js";
import type { AgentStateStoreOptions } from "./store-case.js";
import { takingCases } from "./taking-cases.js";
import { unsavedCases } from "./unsaved-cases.js";
import { waitingCases } from "./waiting-cases.js";

/**
 * Registers the tests every `AgentStateStore` must pass. Stores are closed by the suite.
 *
 * @example
 * describeAgentStateStore("redis", {
 *   create: () => new RedisAgentStateStore({ client, keyPrefix: `${randomUUID()}:` }),
 * });
 */
export function describeAgentStateStore(name: string, options: AgentStateStoreOptions): void {
  registerCases(`${name} as an AgentStateStore`, agentStateStoreCases(options), options);
}

/** The cases of {@link describeAgentStateStore}. */
export function agentStateStoreCases(options: AgentStateStoreOptions): ConformanceCase[] {
  const check = caseFactory(options, (store) => store.close());
  const { fuses = [], inbox = false, callRecords = false, info = true } = options;
  return [
    check("it names its contract, and the suite knows what it fuses and keeps", async (store) => {
      assert.equal(store.contract, 1);
      assert.ok(store.kind.length > 0);
      assert.ok(["process", "host", "distributed"].includes(store.reach));
      const actual = Object.entries(store.fuses ?? {}).flatMap(([part, used]) =>
        used === undefined ? [] : [part],
      );
      assert.deepStrictEqual(actual.sort(), [...fuses].sort(), "options.fuses and the store's");
      assert.equal(store.inbox !== undefined, inbox, "options.inbox and the store's");
      assert.equal(store.keepsCallRecords ?? false, callRecords, "options.callRecords");
    }),
    ...roundTripCases(check),
    ...conflictCases(check),
    ...opCases(check),
    ...deltaCases(check),
    ...changeCases(check, options),
    ...idCases(check),
    ...deleteCases(check),
    ...listCases(check, options),
    ...(fuses.includes("gate") ? fusedGateCases(check) : []),
    ...(fuses.includes("log") ? fusedLogCases(check) : []),
    ...(inbox ? inboxCases(check, options) : []),
    ...(inbox && fuses.includes("gate")
      ? [...fusedInboxCases(check, options), ...takingCases(check)]
      : []),
    ...(callRecords ? callRecordCases(check, options) : []),
    ...(info ? [...infoCases(check, options), ...waitingCases(check, options)] : []),
    ...(info && inbox && fuses.includes("gate") ? unsavedCases(check, options) : []),
    ...(options.expiring ? expiryCases(options, options.expiring) : []),
    ...failureCases(check, options),
    ...(options.reopen === undefined ? [] : reopenCases(check)),
  ];
}
