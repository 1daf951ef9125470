import { parseOptions } from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";

/** A vocabulary: `o200k_base` from GPT-4o on, `cl100k_base` for GPT-4 and GPT-3.5. */
export type TokenEncoding = "o200k_base" | "cl100k_base";

/** Options of `tiktokenCounter` and `gptTokenizerCounter`; `Encoder` is what each of them counts with. */
export interface BpeCounterOptions<Encoder = never> {
  /** Vocabulary to count in; with `encoder`, the one that it has. @default "o200k_base" */
  readonly encoding?: TokenEncoding | undefined;
  /** Encoder that the program imported itself, as bundled programs must. @default loaded from the installed package */
  readonly encoder?: Encoder | undefined;
}

/** Returns the options with their defaults; `where` names the function in errors, `methods` those an encoder must have. */
export function bpeOptions<Encoder>(
  options: BpeCounterOptions<Encoder>,
  where: string,
  methods: readonly string[],
): { readonly encoding: TokenEncoding; readonly encoder: Encoder | undefined } {
  const schema: s.Schema<BpeCounterOptions<Encoder>> = s.strictObject({
    encoding: s.enum(["o200k_base", "cl100k_base"]).optional(),
    encoder: s
      .custom<Encoder>(
        (value) => methods.every((name) => typeof Object(value)[name] === "function"),
        `must have ${methods.join(" and ")}`,
      )
      .optional(),
  });
  const { encoding = "o200k_base", encoder } = parseOptions(schema, options, where);
  return { encoding, encoder };
}
