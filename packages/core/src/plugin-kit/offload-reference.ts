import { InvalidInputError } from "../errors/errors.js";
import { isRecord } from "../json/json.js";
import type { OffloadReference } from "../ports/offloader.js";

/**
 * Reads the answer of an offloader: a string is the reference. The sentence for the model names the reference, whether the
 * offloader's own does or not.
 *
 * @throws InvalidInputError for an answer without a reference: what was offloaded could not be found again
 */
export function offloadReference(answer: OffloadReference | string): OffloadReference {
  if (typeof answer === "string" && answer.trim() !== "")
    return { reference: answer, readBack: `It is kept as ${JSON.stringify(answer)}.` };
  const { reference, readBack } = isRecord(answer) ? (answer as Partial<OffloadReference>) : {};
  if (typeof reference !== "string" || typeof readBack !== "string")
    throw new InvalidInputError(
      "the offloader returned neither a reference nor { reference, readBack }",
    );
  if (readBack.includes(reference)) return { reference, readBack };
  return { reference, readBack: `${readBack} Its reference is ${JSON.stringify(reference)}.` };
}
