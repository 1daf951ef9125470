import type { ToolResultBlock } from "@holdfast/core";
import { isRecord } from "@holdfast/core/plugin-kit";

/** Record of an eviction, in `metadata.evicted` of the result. */
export interface Eviction {
  /** Reference of the text; if the text stayed, of the first data block that was moved. */
  readonly reference: string;
  /** Characters of text and data in the original. */
  readonly chars: number;
  /** References of the moved data blocks, in order; absent if none were moved. */
  readonly data?: readonly string[] | undefined;
}

/** Returns the record of a result's eviction; null if it was not evicted. */
export function evictionOf(result: ToolResultBlock): Eviction | null {
  const evicted = result.metadata?.["evicted"];
  if (!isRecord(evicted)) return null;
  const { reference, chars, data } = evicted;
  if (typeof reference !== "string" || typeof chars !== "number") return null;
  if (!Array.isArray(data)) return { reference, chars };
  return { reference, chars, data: data.filter((one) => typeof one === "string") };
}

/** Returns the result with another output and the record of its eviction. */
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
