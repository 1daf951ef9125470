import { isRecord } from "@holdfast/core/plugin-kit";

/** An error that the provider reported in the middle of a reply. */
export class ReportedError extends Error {
  override readonly name = "ReportedError";

  constructor(cause: unknown) {
    super("the provider reported an error in the reply", { cause });
  }
}

/**
 * Finds what packages of some generations leave out in the provider's own chunks: errors, refusals, and whether the reply is
 * complete. Understands the Responses API and Chat Completions; of other chunks, only errors.
 */
export class RawChunks {
  /** True if the model refused to answer. */
  refused = false;
  /** True if there were chat completions, which say why they end. */
  areChat = false;
  /** The provider's finish reason of a chat completion. */
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

/** Returns the error of a chunk: in its response, in the chunk, or the chunk itself. */
function errorIn(chunk: Readonly<Record<string, unknown>>): unknown {
  const { type, error, response } = chunk;
  if (type === "response.failed") return (isRecord(response) && response["error"]) || chunk;
  if (type === "error") return error ?? chunk;
  // Some servers send an empty field with every chunk.
  const isError = isRecord(error)
    ? isText(error["message"]) || isText(error["code"])
    : isText(error);
  return isError ? error : undefined;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
