import { parseOptions } from "@holdfast/core/plugin-kit";
import * as z from "zod";

/** A vocabulary: `o200k_base` from GPT-4o on, `cl100k_base` for GPT-4 and GPT-3.5. */
export type TokenEncoding = "o200k_base" | "cl100k_base";

/** Options of `tiktokenCounter` and `gptTokenizerCounter`. */
export interface BpeCounterOptions {
  /** Vocabulary to count in. @default "o200k_base" */
  readonly encoding?: TokenEncoding | undefined;
}

const schema: z.ZodType<BpeCounterOptions> = z.strictObject({
  encoding: z.enum(["o200k_base", "cl100k_base"]).optional(),
});

/** Returns the vocabulary of the options; `where` names the function in errors. */
export function encodingOf(options: BpeCounterOptions, where: string): TokenEncoding {
  return parseOptions(schema, options, where).encoding ?? "o200k_base";
}
