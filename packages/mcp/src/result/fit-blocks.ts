import type { DataBlock, TextBlock } from "@holdfast/core";
import { cutIndex } from "@holdfast/core/plugin-kit";

type Block = TextBlock | DataBlock;

/** The blocks within so many characters of text and data: texts cut, data left out whole, and said so. */
export function fitBlocks(blocks: readonly Block[], maxChars: number): readonly Block[] {
  let left = maxChars;
  let omitted = 0;
  const kept = blocks.flatMap((block): readonly Block[] => {
    const chars = charsOf(block);
    if (chars <= left) {
      left -= chars;
      return [block];
    }
    const head = block.type === "text" ? cutIndex(block.text, left) : 0;
    omitted += chars - head;
    left = block.type === "text" ? 0 : left;
    return block.type === "text" && head > 0 ? [{ ...block, text: block.text.slice(0, head) }] : [];
  });
  if (omitted === 0) return blocks;
  const note = `[${omitted} characters of this result were left out: it was larger than ${maxChars}.]`;
  return [...kept, { type: "text", text: note }];
}

function charsOf(block: Block): number {
  if (block.type === "text") return block.text.length;
  return block.source.kind === "base64" ? block.source.data.length : block.source.url.length;
}
