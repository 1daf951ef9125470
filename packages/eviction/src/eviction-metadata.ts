import type { ToolResultBlock } from "@holdfast/core";
import { isRecord } from "@holdfast/core/plugin-kit";

/** What a result says about its own eviction, as `metadata.evicted`. */
export interface Eviction {
  /** Where the text went; of a result that kept its text, where its first data block went. */
  readonly reference: string;
  /** Characters of text and of data the result had. */
  readonly chars: number;
  /** Where its data blocks went, in order; absent when none did. */
  readonly data?: readonly string[] | undefined;
}

/** How a result was evicted; null when it was not. */
export function evictionOf(result: ToolResultBlock): Eviction | null {
  const evicted = result.metadata?.["evicted"];
  if (!isRecord(evicted)) return null;
  const { reference, chars, data } = evicted;
  if (typeof reference !== "string" || typeof chars !== "number") return null;
  if (!Array.isArray(data)) return { reference, chars };
  return { reference, chars, data: data.filter((one) => typeof one === "string") };
}

/** The same result with other output, and where the rest went in its metadata. */
export function withEviction(
  result: ToolResultBlock,
  output: ToolResultBlock["output"],
  { data, ...evicted }: Eviction,
): ToolResultBlock {
  return {
    ...result,
    output,
    metadata: { ...result.metadata, evicted: { ...evicted, ...(data && { data }) } },
  };
}
