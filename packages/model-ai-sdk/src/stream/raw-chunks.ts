import { isRecord } from "@holdfast/core/plugin-kit";
import { ReportedError } from "./reported-error.js";

/**
 * What the provider's own chunks tell that packages of some generations leave out: errors, refusals, and whether the reply
 * was said to be complete. Of chunks that are neither the Responses API's nor chat completions only errors are known.
 */
export class RawChunks {
  /** Whether the model refused to answer. */
  refused = false;
  /** Whether there were chat completions, which tell why they end. */
  areChat = false;
  /** Why a chat completion ended, in the provider's word. */
  finishReason: string | undefined;

  /** @throws ReportedError for a chunk that is an error, or has one */
  read(chunk: unknown): void {
    if (!isRecord(chunk)) return;
    const error = errorIn(chunk);
    if (error !== undefined) throw new ReportedError(error);
    if (chunk["type"] === "response.refusal.delta") this.refused = true;
    if (!Array.isArray(chunk["choices"])) return;
    this.areChat = true;
    // Packages read the first choice only.
    const choice: unknown = chunk["choices"][0];
    if (!isRecord(choice)) return;
    const { finish_reason: reason, delta } = choice;
    if (isText(reason)) this.finishReason = reason;
    if (isRecord(delta) && isText(delta["refusal"])) this.refused = true;
  }
}

/** The error of a chunk: inside its response, inside it, or the chunk itself. */
function errorIn(chunk: Readonly<Record<string, unknown>>): unknown {
  const { type, error, response } = chunk;
  if (type === "response.failed") return (isRecord(response) && response["error"]) || chunk;
  if (type === "error") return error ?? chunk;
  // Some servers send the field with every chunk, empty.
  const isError = isRecord(error)
    ? isText(error["message"]) || isText(error["code"])
    : isText(error);
  return isError ? error : undefined;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
