import { createHmac, randomBytes } from "node:crypto";
import type { RuntimeContext } from "../context/runtime-context.js";
import type { DataBlock, Message, TextBlock, ToolResultBlock } from "../message/message.js";
import { cutIndex } from "../plugin-kit/cut-text.js";
import * as s from "../plugin-kit/schema/index.js";
import type { Offloader, OffloadReference } from "../ports/offloader.js";
import { checkSlot, type Slot, slotText, userTag } from "../slot/slot.js";
import { type Tool, tool, toolResult } from "../tool/tool.js";

/** Characters that `read_offloaded` returns by default, and at most. */
const PAGE_CHARS = 16_000;
const MAX_PAGE_CHARS = 64_000;

const input = s.object({
  reference: s.string().describe("The reference, as it was given"),
  offset: s.int().min(0).optional().describe("First character to read; 0 by default"),
  limit: s
    .int()
    .min(2)
    .max(MAX_PAGE_CHARS)
    .optional()
    .describe(`How many characters to read; ${PAGE_CHARS} by default`),
});

/**
 * Keeps content that leaves a context for as long as this object lives, and lets the model read it back with
 * `read_offloaded`: the reference offloader.
 *
 * - A reference works only in the session it was made for; for other users and sessions it does not exist.
 * - Messages are kept as one JSON object per line, tool results as their text (as JSON when they include data), data
 *   unchanged.
 *
 * @example
 * const offloader = new InMemoryOffloader();
 */
export class InMemoryOffloader implements Offloader {
  readonly readBackTool: Tool;
  /** Key of the references, so that knowing the content is not enough to compute one. */
  readonly #secret = randomBytes(32);
  readonly #contents = new Map<string, string | DataBlock>();

  constructor() {
    this.readBackTool = tool({
      name: "read_offloaded",
      description:
        "Reads content that was moved out of this conversation, by its reference. Long text comes in pages: continue with the offset named at the end of a page.",
      input,
      readOnly: true,
      execute: (request, ctx) => this.#readBack(request, ctx),
    });
  }

  async offloadContext(slot: Slot, messages: readonly Message[]): Promise<OffloadReference> {
    return this.#keep(slot, messages.map((message) => `${JSON.stringify(message)}\n`).join(""));
  }

  async offloadToolResult(slot: Slot, result: ToolResultBlock): Promise<OffloadReference> {
    const texts = result.output.filter((part) => part.type === "text").map((part) => part.text);
    const isText = texts.length === result.output.length;
    return this.#keep(slot, isText ? texts.join("\n") : JSON.stringify(result.output));
  }

  async offloadData(slot: Slot, block: DataBlock): Promise<OffloadReference> {
    return this.#keep(slot, JSON.parse(JSON.stringify(block)) as DataBlock);
  }

  #keep(slot: Slot, content: string | DataBlock): OffloadReference {
    const owner = checkSlot(slot);
    const reference = createHmac("sha256", this.#secret)
      .update(slotText(owner))
      .update(JSON.stringify(content))
      .digest("hex")
      .slice(0, 32);
    this.#contents.set(contentKey(owner, reference), content);
    return { reference, readBack: `Read it with read_offloaded, reference "${reference}".` };
  }

  #readBack(request: s.Infer<typeof input>, ctx: RuntimeContext): unknown {
    const { sessionId, userId } = ctx.agentState ?? ctx;
    const content =
      sessionId === undefined
        ? undefined
        : this.#contents.get(contentKey({ sessionId, userId }, request.reference));
    if (content === undefined)
      return toolResult({
        output: `Nothing was offloaded under reference ${JSON.stringify(request.reference)} in this session. Use a reference exactly as it was given.`,
        state: "error",
      });
    return typeof content === "string" ? page(content, request) : [{ ...content }];
  }
}

/** Returns the key of some content. Tools do not see the agent's id; the reference, a keyed hash, includes it. */
function contentKey(owner: Pick<Slot, "userId" | "sessionId">, reference: string): string {
  const user = userTag(owner.userId);
  return `${user.length}:${user}${owner.sessionId.length}:${owner.sessionId}${reference}`;
}

/** Returns one page as a block of its own, so that the pages joined are the content; a second block names the next offset. */
function page(text: string, request: s.Infer<typeof input>): TextBlock[] {
  const { offset = 0, limit = PAGE_CHARS } = request;
  const start = cutIndex(text, offset);
  const end = cutIndex(text, start + limit);
  const blocks: TextBlock[] = [{ type: "text", text: text.slice(start, end) }];
  if (end < text.length)
    blocks.push({
      type: "text",
      text: `[Characters ${start} to ${end} of ${text.length}. Go on with offset ${end}.]`,
    });
  return blocks;
}
