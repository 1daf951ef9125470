import type { Check, Violation } from "./check.js";

/** Codes with which operations may end while there are faults. */
const expectedCodes = new Set([
  "ABORTED",
  "CALL_ID_REUSED",
  "CONFLICT",
  "INVALID_INPUT",
  "LEASE_LOST",
  "MODEL",
  "PENDING_CONFIRMATION",
  "SESSION_BUSY",
  "SHUTTING_DOWN",
  "UNAVAILABLE",
  "UNKNOWN_OUTCOME",
]);

/** Every operation ends, in one of the documented ways, and no node ends by itself. */
export const operationsEnd: Check = ({ done, hanging, crashes }) => [
  ...crashes.map(
    (crash): Violation => ({
      check: "no node ends by itself",
      session: "",
      message: crash,
      evidence: [],
    }),
  ),
  ...hanging.map(
    (operation): Violation => ({
      check: "every operation ends",
      session: operation.session,
      message: `${operation.op} (${operation.kind}) did not end`,
      evidence: [operation],
    }),
  ),
  ...done.flatMap((one): Violation[] => {
    const { error } = one.told;
    if (error === undefined || expectedCodes.has(error.code)) return [];
    return [
      {
        check: "every operation ends in a documented way",
        session: one.operation.session,
        message: `${one.operation.op} (${one.operation.kind}) got ${error.code}: ${error.message}`,
        evidence: [one],
      },
    ];
  }),
];
