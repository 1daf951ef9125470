import assert from "node:assert/strict";
import {
  type ConformanceCase,
  caseFactory,
  registerCases,
} from "../conformance/conformance-case.js";
import { blobCases } from "./blob-cases.js";
import type { ConversationLogOptions } from "./log-case.js";
import { rangeCases } from "./range-cases.js";
import { recordCases } from "./record-cases.js";
import { reopenCases } from "./reopen-cases.js";
import { searchCases } from "./search-cases.js";
import { sessionCases } from "./session-cases.js";
import { slotCases } from "./slot-cases.js";

/** Registers the tests every `ConversationLog` must pass. */
export function describeConversationLog(name: string, options: ConversationLogOptions): void {
  registerCases(`${name} as a ConversationLog`, conversationLogCases(options), options);
}

/** The cases of {@link describeConversationLog}. */
export function conversationLogCases(options: ConversationLogOptions): ConformanceCase[] {
  const check = caseFactory(options);
  return [
    check("it names its contract", async (log) => {
      assert.equal(log.contract, 1);
      assert.ok(log.kind.length > 0);
      assert.ok(["process", "host", "distributed"].includes(log.reach));
    }),
    ...recordCases(check),
    ...rangeCases(check),
    ...blobCases(check),
    ...searchCases(check, options),
    ...sessionCases(check),
    ...slotCases(check, options),
    ...(options.reopen === undefined ? [] : reopenCases(check)),
  ];
}
