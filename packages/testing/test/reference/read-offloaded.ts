import type { Offloader, Slot, TextBlock } from "@holdfast/core";
import { isExplicitToolResult, type OffloadReference } from "@holdfast/core/plugin-kit";
import { toolCallContext } from "../../src/tool/tool-call-context.js";

/** Reads a reference as a model would: with the offloader's own tool, page by page. */
export async function readOffloaded(
  offloader: Offloader,
  slot: Slot,
  { reference }: OffloadReference,
): Promise<string | null> {
  const ctx = toolCallContext({ userId: slot.userId, sessionId: slot.sessionId });
  const read = offloader.readBackTool?.execute;
  let text = "";
  for (;;) {
    const request = { reference, offset: text.length };
    const blocks = await read?.(request as never, ctx);
    if (isExplicitToolResult(blocks)) return null;
    const [page, more] = blocks as TextBlock[];
    if (page?.type !== "text") return JSON.stringify(page);
    text += page.text;
    if (more === undefined) return text;
  }
}
