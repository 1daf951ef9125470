import { StateCorruptError } from "../errors/index.js";
import { isRecord } from "../json/json.js";

/** A state document out of its text. @throws StateCorruptError */
export function parseDocument(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's own message quotes the text, and state contents stay out of errors.
    throw new StateCorruptError("the state document is not JSON");
  }
  if (!isRecord(value)) throw new StateCorruptError("the state document is not a JSON object");
  return value;
}

/** A state document of one's own out of a value. @throws StateCorruptError */
export function copyDocument(value: unknown): Record<string, unknown> {
  let text: string | undefined;
  try {
    text = JSON.stringify(value, refuseNonFinite);
  } catch (error) {
    if (StateCorruptError.is(error)) throw error;
    throw new StateCorruptError("the state document cannot be written as JSON");
  }
  return parseDocument(text ?? "");
}

function refuseNonFinite(_key: string, value: unknown): unknown {
  if (typeof value === "number" && !Number.isFinite(value))
    throw new StateCorruptError("the state document holds a number that JSON cannot");
  return value;
}
