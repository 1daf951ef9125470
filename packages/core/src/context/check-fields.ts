import { InvalidInputError } from "../errors/errors.js";
import { isRecord } from "../json/json.js";
import { showValue, unfitFields } from "../plugin-kit/show-value.js";
import { fieldNames, unknownNames } from "../plugin-kit/unknown-names.js";
import type { RuntimeContextFields } from "./runtime-context.js";

const callFields: { readonly [K in keyof RuntimeContextFields]-?: true } = {
  userId: true,
  sessionId: true,
  signal: true,
  callId: true,
  onBusy: true,
  onPending: true,
  queueTimeoutMs: true,
  output: true,
  extra: true,
};
const knownNames = Object.keys(callFields);
/** A slot has an agentId, and a context that was copied by spreading it an agentState. */
const acceptedNames: ReadonlySet<string> = new Set([...knownNames, "agentId", "agentState"]);
const busyWords: readonly unknown[] = ["enqueue", "reject", "interrupt", "rollback"];
const pendingWords: readonly unknown[] = ["refuse", "deny"];

/**
 * Checks the plain-object form of a context; ids are checked where they become a slot.
 *
 * @throws InvalidInputError for what has no such fields or an unknown key, which would leave the call without a user or session, and for wrong values
 */
export function checkFields(fields: RuntimeContextFields): void {
  const unfit = unfitFields(fields);
  if (unfit !== null)
    throw new InvalidInputError(
      `a call's context must be an object such as { userId, sessionId }: ${unfit}`,
    );
  const { signal, onBusy, onPending, queueTimeoutMs, extra } = fields;
  const refuse = (problem: string): never => {
    throw new InvalidInputError(`the call's context: ${problem}`);
  };
  const stranger = fieldNames(fields).find((name) => !acceptedNames.has(name));
  if (stranger !== undefined) {
    const [unknown] = unknownNames({ [stranger]: true }, knownNames, "key");
    refuse(`${unknown} (values of your own go into extra, or into a RuntimeContext)`);
  }
  if (
    signal !== undefined &&
    !("aborted" in Object(signal) && "addEventListener" in Object(signal))
  )
    refuse(`signal must be an AbortSignal, got ${showValue(signal)}`);
  if (onBusy !== undefined && !busyWords.includes(onBusy))
    refuse(`onBusy must be ${busyWords.join(", ")}, got ${showValue(onBusy)}`);
  if (onPending !== undefined && !pendingWords.includes(onPending))
    refuse(`onPending must be ${pendingWords.join(" or ")}, got ${showValue(onPending)}`);
  if (queueTimeoutMs !== undefined && !(typeof queueTimeoutMs === "number" && queueTimeoutMs >= 0))
    refuse(`queueTimeoutMs must be a number of milliseconds, got ${showValue(queueTimeoutMs)}`);
  if (extra !== undefined && !isRecord(extra))
    refuse(`extra must be an object, got ${showValue(extra)}`);
}
