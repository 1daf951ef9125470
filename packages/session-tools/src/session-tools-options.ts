import { parseOptions } from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";
import type { Embed } from "./ranked/message-vectors.js";

/** Options of {@link sessionTools}. */
export interface SessionToolsOptions {
  /** Most characters of one answer, from 1,000 to 100,000. @default 20_000 */
  readonly maxPageChars?: number | undefined;
  /** Most characters of a message in an overview; at most half a page. @default 2_000, or a quarter of a smaller page */
  readonly previewChars?: number | undefined;
  /** Size of the largest image or file that is returned as such; larger ones are read as pages of base64. @default 700_000 */
  readonly maxDataBytes?: number | undefined;
  /** Time limit of one answer; an answer that reaches it says how to continue. @default 8_000 */
  readonly timeoutMs?: number | undefined;
  /** Memory for the indexes of ranked searches, all users together; conversations beyond it are left to exact search. @default 67_108_864 */
  readonly maxIndexBytes?: number | undefined;
  /** Embedding model whose similarity is added to the ranking; every message is embedded once per process. @default none */
  readonly embed?: Embed | undefined;
}

/** {@link SessionToolsOptions} with the defaults filled in. */
export interface SessionToolsSettings {
  readonly maxPageChars: number;
  readonly previewChars: number;
  readonly maxDataBytes: number;
  readonly timeoutMs: number;
  readonly maxIndexBytes: number;
  readonly embed?: Embed | undefined;
}

const optionsSchema = s
  .strictObject({
    maxPageChars: s.int().min(1_000).max(100_000).default(20_000),
    previewChars: s.int().min(100).optional(),
    maxDataBytes: s.int().min(0).default(700_000),
    timeoutMs: s.int().min(1).default(8_000),
    maxIndexBytes: s.int().min(0).default(67_108_864),
    embed: s.custom<Embed>((value) => typeof value === "function", "must be a function").optional(),
  })
  .refine(({ previewChars = 0, maxPageChars }) => previewChars <= maxPageChars / 2, {
    path: ["previewChars"],
    message: "must be at most half of maxPageChars",
  });

/** Parses the options. @throws ConfigurationError */
export function readOptions(options: SessionToolsOptions): SessionToolsSettings {
  const parsed = parseOptions(optionsSchema, options, "sessionTools");
  const quarter = Math.floor(parsed.maxPageChars / 4);
  return { ...parsed, previewChars: parsed.previewChars ?? Math.min(2_000, quarter) };
}
