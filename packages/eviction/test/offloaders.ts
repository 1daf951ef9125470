import {
  AgentState,
  type DataBlock,
  InMemoryOffloader,
  type Message,
  type Offloader,
  type Slot,
  type TextBlock,
  type Tool,
  type ToolResultBlock,
} from "@holdfast/core";
import type { OffloadReference } from "@holdfast/core/plugin-kit";
import { toolCallContext } from "@holdfast/testing";

/** Keeps content in memory, and what it was given beside it. */
export class RecordingOffloader implements Offloader {
  readonly results: { readonly slot: Slot; readonly result: ToolResultBlock }[] = [];
  readonly data: DataBlock[] = [];
  readonly #memory = new InMemoryOffloader();

  get readBackTool(): Tool {
    return this.#memory.readBackTool;
  }

  offloadContext(slot: Slot, messages: readonly Message[]): Promise<OffloadReference> {
    return this.#memory.offloadContext(slot, messages);
  }

  offloadToolResult(slot: Slot, result: ToolResultBlock): Promise<OffloadReference> {
    this.results.push({ slot, result });
    return this.#memory.offloadToolResult(slot, result);
  }

  offloadData(slot: Slot, block: DataBlock): Promise<OffloadReference> {
    this.data.push(block);
    return this.#memory.offloadData(slot, block);
  }
}

/** An offloader whose tool results go as `offload` says and that takes no data. */
export function offloaderThat(offload: Offloader["offloadToolResult"]): Offloader {
  const memory = new InMemoryOffloader();
  return {
    offloadContext: (slot, messages) => memory.offloadContext(slot, messages),
    offloadToolResult: offload,
  };
}

/** What a model of that session reads through a reference, page after page; null when it is told that nothing is there. */
export async function readBack(
  { readBackTool }: Offloader,
  of: Pick<Slot, "userId" | "sessionId">,
  reference: string,
): Promise<string | null> {
  const ctx = toolCallContext(of);
  ctx.agentState = AgentState.create(of);
  let whole = "";
  for (let offset: number | undefined = 0; offset !== undefined; ) {
    const page = await readBackTool?.execute?.({ reference, offset, limit: 64_000 } as never, ctx);
    if (!Array.isArray(page)) return null;
    const [text, more] = page as TextBlock[];
    whole += text?.text;
    const next: string | undefined = /Go on with offset (\d+)/.exec(more?.text ?? "")?.[1];
    offset = next === undefined ? undefined : Number(next);
  }
  return whole;
}
